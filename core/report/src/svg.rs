//! A horizontal bar chart as SVG.
//!
//! Owns geometry: labels left, bars from zero in the middle, values right, so that nothing can overlap. It
//! must never know what is measured. Colours and fonts are classes; [`STYLE`] defines them.

use minijinja::HtmlEscape;

use crate::clean::{shorten, wrap};

/// What the classes of a chart mean, in light and dark. The palette is that of Okabe and Ito, which people
/// with any kind of colour vision can tell apart; series 0 is the baseline's grey.
pub const STYLE: &str = include_str!("chart.css");

/// Colours in the palette beside the baseline's; series beyond it take them again, paler.
const COLOURS: usize = 6;

pub struct Chart {
    /// Of the elements that describe the chart; letters, digits and `-`.
    pub id: String,
    pub title: String,
    /// Under the axis: `KiB/s, higher is better`.
    pub axis: String,
    pub groups: Vec<Group>,
    /// A line through all bars at this value: `(100.0, "bare")`.
    pub reference: Option<(f64, String)>,
    /// Under it all.
    pub notes: Vec<&'static str>,
}

pub struct Group {
    /// `2 guests`
    pub label: String,
    pub bars: Vec<Bar>,
}

pub struct Bar {
    pub label: String,
    /// Which colour; 0 is the baseline's.
    pub series: usize,
    /// In the unit of the axis; `None` draws the text only.
    pub value: Option<f64>,
    pub whisker: Option<(f64, f64)>,
    /// The value for people, or what is said in its place.
    pub text: String,
    /// The whisker for people; may be empty.
    pub whisker_text: String,
}

const WIDTH: f64 = 380.0;
const LEFT: f64 = 124.0;
const RIGHT: f64 = 308.0;
const ROW: f64 = 21.0;
const BAR: f64 = 13.0;
const LABEL_CHARACTERS: usize = 16;
const TITLE_CHARACTERS: usize = 50;
const NOTE_CHARACTERS: usize = 60;

/// The axis: its end and its ticks.
struct Axis {
    end: f64,
    step: f64,
}

impl Axis {
    /// From zero to beyond the longest bar. Whiskers may stretch it to one and a half times that; what is longer
    /// is cut, and drawn so.
    fn of(chart: &Chart) -> Self {
        let bars = || chart.groups.iter().flat_map(|group| &group.bars);
        let reference = chart.reference.as_ref().map(|(value, _)| *value);
        let bar = bars().filter_map(|bar| bar.value).chain(reference).fold(0.0, f64::max);
        let whisker = bars().filter_map(|bar| bar.whisker).map(|(_, high)| high).fold(bar, f64::max);
        let longest = whisker.min(bar * 1.5);
        if longest <= 0.0 {
            return Self { end: 1.0, step: 1.0 };
        }
        // Long tick texts need more room.
        let rough = longest / if longest >= 10_000.0 { 3.0 } else { 4.0 };
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        Self { end: (longest / step).ceil() * step, step }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (value / self.end).clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    /// Ticks with texts of equal decimals.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let decimals = (0..9).find(|d| {
            let scaled = self.step * 10f64.powi(*d);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        });
        let place = -decimals.unwrap_or(9);
        let count = (self.end / self.step).round() as usize;
        (0..=count).map(move |i| i as f64 * self.step).map(move |v| (v, crate::number::rounded(v, place)))
    }
}

/// The chart as an SVG element that can be part of an HTML page or, with [`STYLE`] as its `style`, a file.
pub fn svg(chart: &Chart, style: &str) -> String {
    let axis = Axis::of(chart);
    let title = wrap(&chart.title, TITLE_CHARACTERS, 0);
    let mut y = 18.0;
    let mut body = String::new();
    for line in &title {
        body += &label(0.0, y, "start", "title", line);
        y += 17.0;
    }
    let top = y - 6.0;
    let mut bars = String::new();
    for group in &chart.groups {
        y += 8.0;
        bars += &label(0.0, y + 9.0, "start", "group", &group.label);
        y += 15.0;
        for bar in &group.bars {
            bars += &draw(bar, &axis, y);
            y += ROW;
        }
    }
    body += &scale(&axis, chart, top, y);
    body += &bars;
    y += 34.0;
    for note in chart.notes.iter().flat_map(|note| wrap(note, NOTE_CHARACTERS, 0)) {
        y += 17.0;
        body += &label(0.0, y, "start", "tick", &note);
    }
    let height = y + 10.0;
    let id = &chart.id;
    let style = if style.is_empty() { String::new() } else { format!("<style>{style}</style>") };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" viewBox=\"0 0 {WIDTH} {height}\" \
         aria-labelledby=\"{id}-title {id}-desc\"><title id=\"{id}-title\">{}</title>\
         <desc id=\"{id}-desc\">{}</desc>{style}{body}</svg>",
        HtmlEscape(&chart.title),
        HtmlEscape(&describe(chart)),
    )
}

/// All values in words, for those who cannot see the chart.
fn describe(chart: &Chart) -> String {
    let mut text = format!("Bars from zero; {}.", chart.axis);
    for group in &chart.groups {
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
    for note in &chart.notes {
        text += &format!(" {note}.");
    }
    text
}

fn label(x: f64, y: f64, anchor: &str, class: &str, text: &str) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>",
        HtmlEscape(text)
    )
}

fn line(x1: f64, y1: f64, x2: f64, y2: f64, class: &str) -> String {
    format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"{class}\"/>")
}

/// Grid, tick texts, the reference line, and the axis text.
fn scale(axis: &Axis, chart: &Chart, top: f64, bottom: f64) -> String {
    let mut out = String::new();
    for (value, text) in axis.ticks() {
        let x = axis.x(value);
        out += &line(x, top, x, bottom, if value == 0.0 { "zero" } else { "grid" });
        out += &label(x, bottom + 15.0, "middle", "tick", &text);
    }
    if let Some((value, _)) = &chart.reference {
        let x = axis.x(*value);
        out += &line(x, top, x, bottom, "reference");
    }
    let note = chart.reference.as_ref().map_or(String::new(), |(_, name)| format!("; dashed: {name}"));
    out + &label(
        f64::midpoint(LEFT, RIGHT),
        bottom + 34.0,
        "middle",
        "axis",
        &format!("{}{note}", chart.axis),
    )
}

fn draw(bar: &Bar, axis: &Axis, y: f64) -> String {
    let middle = y + ROW / 2.0;
    let base = middle + 4.0;
    let mut out = format!("<g><title>{}</title>", HtmlEscape(&format!("{}: {}", bar.label, bar.text)));
    out += &label(LEFT - 8.0, base, "end", "label", &shorten(&bar.label, LABEL_CHARACTERS));
    match bar.value {
        None => out += &label(LEFT + 6.0, base, "start", "words", &bar.text),
        Some(value) => {
            let series = bar.series.checked_sub(1).map_or(0, |index| index % COLOURS + 1);
            let again = if bar.series > COLOURS { " again" } else { "" };
            out += &format!(
                "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BAR}\" class=\"bar s{series}{again}\"/>",
                middle - BAR / 2.0,
                axis.x(value) - LEFT,
            );
            out += &bar.whisker.map_or(String::new(), |range| whisker(range, axis, middle));
            out += &label(WIDTH, base, "end", "value", &bar.text);
        }
    }
    out + "</g>"
}

/// A whisker with a cap at each end that is on the axis, and an arrow where it goes on beyond.
fn whisker((low, high): (f64, f64), axis: &Axis, y: f64) -> String {
    let (x1, x2) = (axis.x(low), axis.x(high));
    let mut out = line(x1, y, x2, y, "whisker");
    if low >= 0.0 {
        out += &line(x1, y - 4.0, x1, y + 4.0, "whisker");
    }
    if high <= axis.end {
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
            whisker_text: String::new(),
        };
        let groups = vec![Group { label: "1 guest".to_string(), bars: vec![bar] }];
        Chart {
            id: "x".to_string(),
            title: "t & u".to_string(),
            axis: "s".to_string(),
            groups,
            reference: None,
            notes: vec!["* noted"],
        }
    }

    fn ticks(value: f64, whisker: Option<(f64, f64)>) -> Vec<String> {
        Axis::of(&chart(Some(value), whisker)).ticks().map(|(_, text)| text).collect()
    }

    #[test]
    fn the_axis_starts_at_zero_and_covers_the_bars() {
        assert_eq!(ticks(93.0, None), ["0", "25", "50", "75", "100"]);
        assert_eq!(ticks(58_590.0, None), ["0", "20,000", "40,000", "60,000"]);
        assert_eq!(ticks(0.7, None), ["0.0", "0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(ticks(93.0, Some((0.0, 1e9))), ["0", "50", "100", "150"]);
        assert_eq!(ticks(0.0, None), ["0", "1"]);
    }

    #[test]
    fn a_cut_whisker_ends_in_an_arrow_and_one_below_zero_has_no_cap() {
        let whiskers = |range| svg(&chart(Some(93.0), Some(range)), "").matches("\"whisker\"").count();
        assert_eq!((whiskers((90.0, 96.0)), whiskers((-5.0, 96.0)), whiskers((-5.0, 1e9))), (3, 2, 3));
    }

    #[test]
    fn words_take_the_place_of_a_bar_and_text_is_escaped() {
        let svg = svg(&chart(None, None), "");
        assert!(svg.contains(">* noted</text>") && svg.contains(". * noted.</desc>"));
        assert!(svg.contains(">said</text>") && !svg.contains("<rect"));
        assert!(svg.contains("a&lt;b") && svg.contains("t &amp; u") && !svg.contains("a<b"));
    }
}
