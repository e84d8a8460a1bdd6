//! `crossvisor report`: a stored run again, in any form.

use std::fs;
use std::path::Path;

use crossvisor_analysis::{compare, Comparison};
use crossvisor_report::{charts, csv, html, json, markdown, openmetrics, text, Metrics};
use crossvisor_store::{recordings, RunDirectory};

use crate::arguments::{Format, Report};
use crate::exit::Failure;
use crate::output;

/// # Errors
/// [`Failure`] when the run cannot be read or the report not be written.
pub fn execute(asked: &Report) -> Result<(), Failure> {
    let record = RunDirectory::read(&asked.run)?;
    let comparison = compare(&record);
    let metrics = if asked.all { Metrics::All } else { Metrics::Headline };
    let rendered = match asked.format {
        Format::Svg => return draw(&comparison, asked.output.as_deref().ok_or(Failure::NoFolder)?),
        Format::Text => text(&record, &comparison, metrics, output::width()),
        Format::Markdown => markdown(&record, &comparison, metrics),
        Format::Csv => csv(&record, &comparison)?,
        Format::Json => json(&record, &comparison)?,
        Format::Html => html(&record, &comparison, &recordings(&asked.run, &record.telemetry))?,
        Format::Openmetrics => openmetrics(&record, &comparison),
    };
    match &asked.output {
        Some(path) => fs::write(path, rendered).map_err(Failure::write(path)),
        None => output::show(|out| out.write_all(rendered.as_bytes())),
    }
}

/// A file for each chart.
fn draw(comparison: &Comparison, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::write(folder))?;
    let charts = charts(comparison);
    for (name, svg) in &charts {
        let path = folder.join(name).with_extension("svg");
        fs::write(&path, svg).map_err(Failure::write(&path))?;
    }
    let count = output::count(charts.len(), "chart");
    output::show(|out| writeln!(out, "{count} in {}", output::long_line(&folder.to_string_lossy())))
}
