//! `crossvisor report`: a stored run again, in any form.

use std::fs;

use crossvisor_analysis::{compare, Comparison};
use crossvisor_model::RunRecord;
use crossvisor_report::{csv, html, json, markdown, openmetrics, text, Metrics};
use crossvisor_store::RunDirectory;

use crate::arguments::{Format, Report};
use crate::exit::Failure;
use crate::output;

/// # Errors
/// [`Failure`] when the run cannot be read or the report not be written.
pub fn execute(asked: &Report) -> Result<(), Failure> {
    let record = RunDirectory::read(&asked.run)?;
    let rendered = render(&record, &compare(&record), asked)?;
    match &asked.output {
        Some(path) => fs::write(path, rendered).map_err(Failure::write(path)),
        None => output::show(|out| out.write_all(rendered.as_bytes())),
    }
}

fn render(record: &RunRecord, comparison: &Comparison, asked: &Report) -> Result<String, Failure> {
    let metrics = if asked.all { Metrics::All } else { Metrics::Headline };
    Ok(match asked.format {
        Format::Text => text(record, comparison, metrics, output::width()),
        Format::Markdown => markdown(record, comparison, metrics),
        Format::Csv => csv(record, comparison)?,
        Format::Json => json(record, comparison)?,
        Format::Html => html(record, comparison)?,
        Format::Openmetrics => openmetrics(record, comparison),
    })
}
