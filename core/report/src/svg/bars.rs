//! Horizontal bars from zero, or dots on the range that they span.
//!
//! Owns geometry: labels left, marks in the middle, values right, so that nothing can overlap.

use minijinja::HtmlEscape;

use super::axis::Axis;
use super::{CHARACTER, Drawing, WIDTH, heading, label, line, notes, series};
use crate::clean::shorten;

pub struct Chart {
    /// Letters, digits and `-`.
    pub id: String,
    pub title: String,
    /// Under the axis: `KiB/s, higher is better`.
    pub axis: String,
    pub groups: Vec<Group>,
    /// A line through all bars at this value: `(100.0, "bare")`.
    pub reference: Option<(f64, String)>,
    /// Where the axis ends at least, for charts that are beside each other.
    pub reach: f64,
    /// Under it all.
    pub notes: Vec<&'static str>,
}

pub struct Group {
    /// `2 guests`
    pub label: String,
    pub bars: Vec<Bar>,
}

#[derive(Clone, Default)]
pub struct Bar {
    pub label: String,
    /// Which colour; 0 is the baseline's.
    pub series: usize,
    /// In the unit of the axis; `None` draws the text only.
    pub value: Option<f64>,
    /// Drawn in place of the bar, where there are any.
    pub dots: Vec<f64>,
    pub whisker: Option<(f64, f64)>,
    /// The value for people, or what is said in its place.
    pub text: String,
    /// The whisker for people; may be empty.
    pub whisker_text: String,
}

/// Where the axis ends at most.
const RIGHT: f64 = 302.0;
const ROW: f64 = 21.0;
const BAR: f64 = 13.0;
const LABEL_CHARACTERS: usize = 23;

impl Chart {
    fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|group| &group.bars)
    }

    /// The value the axis has to reach. Whiskers may stretch it to one and a half times the longest bar; what is longer is
    /// cut, and drawn so.
    pub fn longest(&self) -> f64 {
        let reference = self.reference.as_ref().map(|(value, _)| *value);
        let values = self.bars().flat_map(|bar| bar.dots.iter().copied().chain(bar.value));
        let bar = values.chain(reference).fold(0.0, f64::max);
        let whisker = self.bars().filter_map(|bar| bar.whisker).map(|(_, high)| high).fold(bar, f64::max);
        whisker.min(bar * 1.5)
    }

    pub fn draw(&self) -> Drawing {
        let labels = self.bars().map(|bar| bar.label.chars().count().min(LABEL_CHARACTERS)).max();
        let left = (labels.unwrap_or(0) as f64 * CHARACTER + 12.0).max(84.0);
        let texts = self.bars().filter(|bar| bar.value.is_some()).map(|bar| bar.text.chars().count());
        let right = RIGHT.min(WIDTH - texts.max().unwrap_or(0) as f64 * CHARACTER - 8.0);
        let scale = Scale { axis: Axis::to(self.longest().max(self.reach)), left, right };
        let (mut body, mut y) = heading(&self.title);
        let top = y - 6.0;
        let mut bars = String::new();
        for group in &self.groups {
            y += 8.0;
            bars += &label(0.0, y + 9.0, "start", "group", &group.label);
            y += 15.0;
            for bar in &group.bars {
                bars += &draw(bar, &scale, y);
                y += ROW;
            }
        }
        body += &scale.draw(self, top, y);
        let (notes, y) = notes(self.notes.iter().copied(), y + 34.0);
        Drawing {
            id: self.id.clone(),
            title: self.title.clone(),
            description: self.describe(),
            height: y + 10.0,
            body: body + &bars + &notes,
        }
    }

    fn describe(&self) -> String {
        let mut text = format!("From zero; {}.", self.axis);
        for group in &self.groups {
            text += &format!(" {}:", group.label);
            for (index, bar) in group.bars.iter().enumerate() {
                let comma = if index == 0 { "" } else { ";" };
                let whisker = match bar.whisker_text.as_str() {
                    "" => String::new(),
                    range => format!(" (95 % interval {range})"),
                };
                text += &format!("{comma} {} {}{whisker}", bar.label, bar.text);
            }
            text.push('.');
        }
        for note in &self.notes {
            text += &format!(" {note}.");
        }
        text
    }
}

/// The axis and where it lies.
struct Scale {
    axis: Axis,
    left: f64,
    right: f64,
}

impl Scale {
    fn x(&self, value: f64) -> f64 {
        self.left + self.axis.share(value) * (self.right - self.left)
    }

    /// Grid, tick texts, the reference line, and the axis text.
    fn draw(&self, chart: &Chart, top: f64, bottom: f64) -> String {
        let mut out = String::new();
        for (value, text) in self.axis.ticks() {
            let x = self.x(value);
            out += &line(x, top, x, bottom, if value == 0.0 { "zero" } else { "grid" });
            out += &label(x, bottom + 15.0, "middle", "tick", &text);
        }
        if let Some((value, _)) = &chart.reference {
            let x = self.x(*value);
            out += &line(x, top, x, bottom, "reference");
        }
        let note = chart.reference.as_ref().map_or(String::new(), |(_, name)| format!("; dashed: {name}"));
        let text = format!("{}{note}", chart.axis);
        out + &label(WIDTH / 2.0, bottom + 34.0, "middle", "axis", &text)
    }
}

fn draw(bar: &Bar, scale: &Scale, y: f64) -> String {
    let middle = y + ROW / 2.0;
    let base = middle + 4.0;
    let mut out = format!("<g><title>{}</title>", HtmlEscape(&format!("{}: {}", bar.label, bar.text)));
    out += &label(scale.left - 8.0, base, "end", "label", &shorten(&bar.label, LABEL_CHARACTERS));
    let Some(value) = bar.value else {
        return out + &label(scale.left + 6.0, base, "start", "words", &bar.text) + "</g>";
    };
    if bar.dots.is_empty() {
        out += &format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BAR}\" class=\"bar {}\"/>",
            scale.left,
            middle - BAR / 2.0,
            scale.x(value) - scale.left,
            series(bar.series),
        );
    } else {
        out += &dots(bar, scale, middle);
    }
    out += &bar.whisker.map_or(String::new(), |range| whisker(range, scale, middle));
    out + &label(WIDTH, base, "end", "value", &bar.text) + "</g>"
}

/// The range of the dots as a line, and each dot on it.
fn dots(bar: &Bar, scale: &Scale, y: f64) -> String {
    let low = bar.dots.iter().copied().fold(f64::INFINITY, f64::min);
    let high = bar.dots.iter().copied().fold(0.0, f64::max);
    let mut out = line(scale.x(low), y, scale.x(high), y, "range");
    for value in &bar.dots {
        let x = scale.x(*value);
        out += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" class=\"dot {}\"/>", series(bar.series));
    }
    out
}

/// A whisker with a cap at each end that is on the axis, and an arrow where it goes on beyond.
fn whisker((low, high): (f64, f64), scale: &Scale, y: f64) -> String {
    let (x1, x2) = (scale.x(low), scale.x(high));
    let mut out = line(x1, y, x2, y, "whisker");
    if low >= 0.0 {
        out += &line(x1, y - 4.0, x1, y + 4.0, "whisker");
    }
    if high <= scale.axis.end {
        return out + &line(x2, y - 4.0, x2, y + 4.0, "whisker");
    }
    out + &line(x2 - 4.0, y - 4.0, x2, y, "whisker") + &line(x2 - 4.0, y + 4.0, x2, y, "whisker")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(value: Option<f64>, whisker: Option<(f64, f64)>) -> Chart {
        let bar = Bar {
            label: "a<b".to_string(),
            series: 8,
            value,
            whisker,
            text: "said".to_string(),
            ..Bar::default()
        };
        let groups = vec![Group { label: "1 guest".to_string(), bars: vec![bar] }];
        Chart {
            id: "x".to_string(),
            title: "t & u".to_string(),
            axis: "s".to_string(),
            groups,
            reference: None,
            reach: 0.0,
            notes: vec!["* noted"],
        }
    }

    #[test]
    fn whiskers_stretch_the_axis_a_little_and_charts_beside_each_other_have_the_same() {
        assert_eq!(chart(Some(93.0), Some((0.0, 1e9))).longest(), 139.5);
        assert_eq!(chart(Some(93.0), Some((90.0, 96.0))).longest(), 96.0);
        let svg = Chart { reach: 400.0, ..chart(Some(93.0), None) }.draw().svg("");
        assert!(svg.contains(">400</text>"), "{svg}");
    }

    #[test]
    fn the_axis_ends_before_the_longest_text() {
        let end = |text: &str| {
            let mut chart = chart(Some(100.0), None);
            chart.groups[0].bars[0].text = text.to_string();
            let svg = chart.draw().svg("");
            let last = svg.rsplit("class=\"grid\"").nth(1).and_then(|rest| rest.rsplit("x2=\"").next());
            last.and_then(|x| x.split('"').next()?.parse::<f64>().ok()).expect("a grid line")
        };
        assert!((end("93.0 %") - RIGHT).abs() < 0.1);
        assert!(end("93.0 % worse") < WIDTH - 12.0 * CHARACTER);
    }

    #[test]
    fn a_cut_whisker_ends_in_an_arrow_and_one_below_zero_has_no_cap() {
        let whiskers = |range| chart(Some(93.0), Some(range)).draw().svg("").matches("\"whisker\"").count();
        assert_eq!((whiskers((90.0, 96.0)), whiskers((-5.0, 96.0)), whiskers((-5.0, 1e9))), (3, 2, 3));
    }

    #[test]
    fn dots_take_the_place_of_a_bar() {
        let mut chart = chart(Some(2.0), None);
        chart.groups[0].bars[0].dots = vec![1.0, 3.0];
        let svg = chart.draw().svg("");
        assert!(svg.matches("<circle").count() == 2 && !svg.contains("<rect"), "{svg}");
        assert_eq!(chart.longest(), 3.0);
    }

    #[test]
    fn words_take_the_place_of_a_bar_and_text_is_escaped() {
        let svg = chart(None, None).draw().svg("");
        assert!(svg.contains(">* noted</text>") && svg.contains(". * noted.</desc>"));
        assert!(svg.contains(">said</text>") && !svg.contains("<rect"));
        assert!(svg.contains("a&lt;b") && svg.contains("t &amp; u") && !svg.contains("a<b"));
    }
}
