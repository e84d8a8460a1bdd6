//! Runs side by side as JSON.

use crossvisor_analysis::Across;
use serde::Serialize;

use crate::{FORMAT, ReportError};

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    #[serde(flatten)]
    across: &'a Across,
}

/// The comparison as JSON with a line end; `format` is [`FORMAT`].
///
/// # Errors
/// [`ReportError::Json`] when serialising fails, which these types do not.
pub fn json(across: &Across) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(&Document { format: FORMAT, across })? + "\n")
}
