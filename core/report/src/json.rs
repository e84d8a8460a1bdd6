//! The report as JSON: the comparison, and where its numbers come from.
//!
//! Owns the outer object and its format number. It must never round.

use std::collections::BTreeMap;

use crossvisor_analysis::Comparison;
use crossvisor_model::{HostSpec, Name, Provenance, RunRecord, TelemetrySummary};
use serde::Serialize;

use crate::{ReportError, notes};

/// Grows when a reader of the format before could be misled.
pub const FORMAT: u32 = 1;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Document<'a> {
    format: u32,
    run: &'a str,
    scenario: &'a Name,
    complete: bool,
    seed: u64,
    repeat: u32,
    emulated: bool,
    hosts: &'a BTreeMap<Name, HostSpec>,
    notices: &'a [String],
    provenance: &'a Provenance,
    /// What machines did while they were measured, by replicate, place and source.
    telemetry: &'a [TelemetrySummary],
    comparison: &'a Comparison,
}

/// The report as JSON with a line end; `format` is [`FORMAT`].
///
/// # Errors
/// [`ReportError::Json`] when serialising fails, which these types do not.
pub fn json(record: &RunRecord, comparison: &Comparison) -> Result<String, ReportError> {
    let document = Document {
        format: FORMAT,
        run: &record.name,
        scenario: &record.plan.scenario,
        complete: record.complete,
        seed: record.plan.seed,
        repeat: record.plan.repeat,
        emulated: notes::emulated(record, comparison).is_some(),
        hosts: &record.plan.hosts,
        notices: &record.notices,
        provenance: &record.provenance,
        telemetry: &record.telemetry,
        comparison,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// The JSON Schema of what [`json`] writes, of draft 2020-12.
#[cfg(feature = "schema")]
#[must_use]
pub fn schema() -> schemars::Schema {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<Document<'_>>()
}
