//! Curves over the number of guests.
//!
//! Owns geometry: each curve's name stands at its right end, moved apart where ends are close.

use minijinja::HtmlEscape;

use super::axis::Axis;
use super::{CHARACTER, Drawing, WIDTH, heading, label, line, series};
use crate::clean::shorten;

pub struct Chart {
    /// Letters, digits and `-`.
    pub id: String,
    pub title: String,
    /// Above the curves: what goes up.
    pub axis: String,
    pub curves: Vec<Curve>,
    /// How high the axis reaches at least.
    pub reach: f64,
}

pub struct Curve {
    pub name: String,
    /// At the curve's end, behind its name: `62.0 %`.
    pub end: String,
    /// Which colour; 0 is the baseline's.
    pub series: usize,
    /// At least one, by number of guests.
    pub points: Vec<Point>,
}

pub struct Point {
    pub guests: u32,
    pub value: f64,
    pub whisker: Option<(f64, f64)>,
    /// For people.
    pub text: String,
}

const LEFT: f64 = 34.0;
const HEIGHT: f64 = 190.0;
const NAME_CHARACTERS: usize = 26;
/// Between two names.
const APART: f64 = 14.0;

impl Chart {
    fn points(&self) -> impl Iterator<Item = &Point> {
        self.curves.iter().flat_map(|curve| &curve.points)
    }

    /// The greatest value of all curves.
    pub fn highest(&self) -> f64 {
        self.points().map(|point| point.value).fold(1.0, f64::max)
    }

    pub fn draw(&self) -> Drawing {
        let (head, y) = heading(&self.title);
        let name = |curve: &Curve| format!("{} {}", shorten(&curve.name, NAME_CHARACTERS), curve.end);
        let names: Vec<String> = self.curves.iter().map(name).collect();
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
        let room = Room {
            axis: Axis::to(self.highest().max(self.reach)),
            counts: self.counts(),
            top: y + 12.0,
            right: WIDTH - longest * CHARACTER - 16.0,
        };
        let mut body = head + &label(0.0, y, "start", "axis", &self.axis) + &room.draw();
        for curve in &self.curves {
            body += &room.curve(curve);
        }
        let ends = self.curves.iter().filter_map(|curve| curve.points.last());
        let ends: Vec<f64> = ends.map(|point| room.y(point.value)).collect();
        for ((name, y), curve) in names.iter().zip(apart(&ends, room.top)).zip(&self.curves) {
            let class = format!("end {}", series(curve.series));
            body +=
                &format!("<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\" class=\"{class}\"/>", room.right + 9.0);
            body += &label(room.right + 16.0, y + 4.0, "start", "label", name);
        }
        let lowest = (room.top + HEIGHT).max(room.top + self.curves.len() as f64 * APART);
        Drawing {
            id: self.id.clone(),
            title: self.title.clone(),
            description: self.describe(),
            height: lowest + 40.0,
            body,
        }
    }

    /// All numbers of guests, ascending.
    fn counts(&self) -> Vec<u32> {
        let mut counts: Vec<u32> = self.points().map(|point| point.guests).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    fn describe(&self) -> String {
        let mut text = format!("{}.", self.axis);
        for curve in &self.curves {
            let point = |point: &Point| format!(" {} guests {}", point.guests, point.text);
            let points: Vec<String> = curve.points.iter().map(point).collect();
            text += &format!(" {}:{}.", curve.name, points.join(";"));
        }
        text
    }
}

/// Where the curves are drawn.
struct Room {
    axis: Axis,
    counts: Vec<u32>,
    top: f64,
    right: f64,
}

impl Room {
    fn x(&self, guests: u32) -> f64 {
        let (first, last) = self.ends();
        let share = f64::from(guests - first) / f64::from((last - first).max(1));
        LEFT + 10.0 + share * (self.right - LEFT - 14.0)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + HEIGHT * (1.0 - self.axis.share(value))
    }

    fn ends(&self) -> (u32, u32) {
        (self.counts.first().copied().unwrap_or(1), self.counts.last().copied().unwrap_or(1))
    }

    /// The grid, the numbers of guests that have room, and the dashed line of guests that do not hinder each other.
    fn draw(&self) -> String {
        let bottom = self.top + HEIGHT;
        let mut out = String::new();
        for (value, text) in self.axis.ticks() {
            let y = self.y(value);
            out += &line(LEFT, y, self.right, y, if value == 0.0 { "zero" } else { "grid" });
            out += &label(LEFT - 6.0, y + 4.0, "end", "tick", &text);
        }
        let mut free = 0.0;
        for count in &self.counts {
            let x = self.x(*count);
            if x >= free {
                out += &label(x, bottom + 15.0, "middle", "tick", &count.to_string());
                free = x + 22.0;
            }
        }
        out += &label(
            f64::midpoint(LEFT, self.right),
            bottom + 32.0,
            "middle",
            "axis",
            "guests; dashed: no loss",
        );
        let (first, last) = self.ends();
        let times = f64::from(last) / f64::from(first.max(1));
        let reached = times.min(self.axis.end);
        let share = if times > 1.0 { (reached - 1.0) / (times - 1.0) } else { 0.0 };
        let end = self.x(first) + share * (self.x(last) - self.x(first));
        out + &line(self.x(first), self.y(1.0), end, self.y(reached), "reference")
    }

    fn curve(&self, curve: &Curve) -> String {
        let series = series(curve.series);
        let place = |point: &Point| (self.x(point.guests), self.y(point.value));
        let path: Vec<String> =
            curve.points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let mut out = format!(
            "<g><title>{}</title><polyline points=\"{}\" class=\"curve {series}\"/>",
            HtmlEscape(&curve.name),
            path.join(" ")
        );
        for point in &curve.points {
            let (x, y) = place(point);
            if let Some((low, high)) = point.whisker {
                out += &line(x, self.y(low), x, self.y(high), "whisker");
            }
            out += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" class=\"end {series}\"/>");
        }
        out + "</g>"
    }
}

/// The places nearest to `wanted`, in its order, that are [`APART`] from each other and not above `top`.
fn apart(wanted: &[f64], top: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut places = vec![0.0; wanted.len()];
    let mut free = top;
    for index in &order {
        places[*index] = wanted[*index].max(free);
        free = places[*index] + APART;
    }
    let mut ceiling = free.min(top + HEIGHT + APART).max(top + wanted.len() as f64 * APART);
    for index in order.iter().rev() {
        places[*index] = places[*index].min(ceiling - APART);
        ceiling = places[*index];
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_apart_and_stay_in_the_room() {
        assert_eq!(apart(&[50.0, 52.0, 10.0], 0.0), [50.0, 64.0, 10.0]);
        assert_eq!(apart(&[HEIGHT, HEIGHT], 0.0), [HEIGHT - APART, HEIGHT]);
        let many = apart(&[0.0; 30], 0.0);
        assert!(many.windows(2).all(|pair| pair[1] - pair[0] >= APART - 1e-9), "{many:?}");
    }

    #[test]
    fn a_curve_is_drawn_over_all_numbers_of_guests_and_said_in_words() {
        let point = |guests, value| Point { guests, value, whisker: None, text: format!("{value} times") };
        let curve = Curve {
            name: "a<b".into(),
            end: "75 %".into(),
            series: 1,
            points: vec![point(1, 1.0), point(4, 3.0)],
        };
        let chart =
            Chart { id: "x".into(), title: "t".into(), axis: "y".into(), curves: vec![curve], reach: 4.0 };
        let drawing = chart.draw();
        assert_eq!(drawing.description, "y. a<b: 1 guests 1 times; 4 guests 3 times.");
        let svg = drawing.svg("");
        assert!(
            svg.contains("a&lt;b 75 %") && svg.contains("<polyline") && svg.contains(">4</text>"),
            "{svg}"
        );
    }
}
