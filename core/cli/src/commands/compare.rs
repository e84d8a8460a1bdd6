//! `crossvisor compare`: stored runs beside the first of them.

use std::fs;

use crossvisor_analysis::{across, Across};
use crossvisor_model::RunRecord;
use crossvisor_report::{across_csv, across_json, across_markdown, across_text, Metrics};
use crossvisor_store::RunDirectory;

use crate::arguments::{Compare, CompareFormat};
use crate::exit::Failure;
use crate::output;

/// # Errors
/// [`Failure`] when a run cannot be read or the comparison not be written.
pub fn execute(asked: &Compare) -> Result<(), Failure> {
    let mut records = Vec::new();
    for run in &asked.runs {
        records.push(RunDirectory::read(run)?);
    }
    let others: Vec<RunRecord> = records.split_off(1);
    let rendered = render(&across(&records[0], &others, asked.allow_unlike), asked)?;
    match &asked.output {
        Some(path) => fs::write(path, rendered).map_err(Failure::write(path)),
        None => output::show(|out| out.write_all(rendered.as_bytes())),
    }
}

fn render(across: &Across, asked: &Compare) -> Result<String, Failure> {
    let metrics = if asked.all { Metrics::All } else { Metrics::Headline };
    Ok(match asked.format {
        CompareFormat::Text => across_text(across, metrics, output::width()),
        CompareFormat::Markdown => across_markdown(across, metrics),
        CompareFormat::Csv => across_csv(across)?,
        CompareFormat::Json => across_json(across)?,
    })
}
