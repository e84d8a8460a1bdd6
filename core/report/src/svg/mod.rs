//! Charts as SVG.
//!
//! Owns what all drawings have in common: their frame, their texts, their lines. It must never know what is measured,
//! nor write a foreign text unescaped. Colours and fonts are classes; [`STYLE`] defines them.

mod axis;
pub mod bars;
pub mod curves;
pub mod spark;

use minijinja::HtmlEscape;

/// What the classes of a chart mean, in light and dark. The palette is that of Okabe and Ito, which people
/// with any kind of colour vision can tell apart; series 0 is the baseline's grey.
pub const STYLE: &str = include_str!("chart.css");

/// Colours in the palette beside the baseline's; series beyond it take them again, paler.
const COLOURS: usize = 6;

/// Width of every chart, in the unit of its texts' sizes.
const WIDTH: f64 = 380.0;
const TITLE_CHARACTERS: usize = 50;
const NOTE_CHARACTERS: usize = 60;
/// The width of a character of a label, on the safe side.
const CHARACTER: f64 = 7.0;

/// A drawn chart.
pub struct Drawing {
    /// Of the elements that describe the chart, and of its file; letters, digits and `-`.
    pub id: String,
    pub title: String,
    /// All values in words, for those who cannot see the chart.
    pub description: String,
    height: f64,
    body: String,
}

impl Drawing {
    /// The chart as an SVG element that can be part of an HTML page or, with [`STYLE`] as its `style`, a file.
    pub fn svg(&self, style: &str) -> String {
        let Self { id, height, body, .. } = self;
        let style = if style.is_empty() { String::new() } else { format!("<style>{style}</style>") };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
             aria-labelledby=\"{id}-title {id}-desc\"><title id=\"{id}-title\">{}</title>\
             <desc id=\"{id}-desc\">{}</desc>{style}{body}</svg>\n",
            HtmlEscape(&self.title),
            HtmlEscape(&self.description),
        )
    }
}

/// The classes of a series: its colour.
fn series(number: usize) -> String {
    let colour = number.checked_sub(1).map_or(0, |index| index % COLOURS + 1);
    format!("s{colour}{}", if number > COLOURS { " again" } else { "" })
}

/// The lines of a title from the top, and where they end.
fn heading(title: &str) -> (String, f64) {
    let mut y = 18.0;
    let mut out = String::new();
    for line in crate::clean::wrap(title, TITLE_CHARACTERS, 0) {
        out += &label(0.0, y, "start", "title", &line);
        y += 17.0;
    }
    (out, y)
}

/// Notes below `y`, and where they end.
fn notes<'a>(texts: impl Iterator<Item = &'a str>, mut y: f64) -> (String, f64) {
    let mut out = String::new();
    for line in texts.flat_map(|text| crate::clean::wrap(text, NOTE_CHARACTERS, 0)) {
        y += 17.0;
        out += &label(0.0, y, "start", "tick", &line);
    }
    (out, y)
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
