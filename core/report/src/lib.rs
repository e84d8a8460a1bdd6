//! Reports: a comparison as text, Markdown, CSV, JSON, OpenMetrics, and one HTML page with SVG charts.
//!
//! Owns how numbers are shown. Every function is pure and deterministic: the same record gives the same bytes.
//! It must never compute a statistic, do I/O, or let a guest's output reach a terminal or a browser unescaped.

mod across;
mod charts;
mod clean;
mod facts;
mod findings;
mod html;
mod json;
mod markdown;
mod notes;
mod number;
mod openmetrics;
mod places;
mod sheet;
mod svg;
mod table;
mod telemetry;
mod text;

pub use across::{
    COLUMNS as ACROSS_COLUMNS, csv as across_csv, json as across_json, markdown as across_markdown,
    text as across_text,
};
pub use charts::charts;
pub use html::html;
#[cfg(feature = "schema")]
pub use json::schema;
pub use json::{FORMAT, json};
pub use markdown::markdown;
pub use openmetrics::openmetrics;
pub use sheet::{COLUMNS, csv};
pub use table::Metrics;
pub use text::text;

/// Why a report could not be written; none of these depends on what was measured.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("the HTML page could not be rendered: {0}")]
    Page(#[from] minijinja::Error),
    #[error("the comparison could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the comparison could not be written as CSV: {0}")]
    Csv(String),
}
