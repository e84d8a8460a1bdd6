//! Files that people kept, and the results in them.

use std::collections::BTreeMap;

use crossvisor_model::Values;
use serde::{Deserialize, Serialize};

/// A piece of a file that people kept: it begins where the last piece that was used ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportInput {
    /// The file's name without its folders, for what is told from it.
    pub file: String,
    /// Whole lines, but for the end of the file. Bytes that are not UTF-8 are U+FFFD.
    pub text: String,
    /// True where the file ends with this piece.
    pub last: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportOutput {
    /// Bytes of the text that are done with; the rest comes again at the head of the next piece. 0 with a piece that is
    /// not the last asks for a longer one. Of the last piece nothing comes again.
    pub used: usize,
    #[serde(default)]
    pub results: Vec<Imported>,
    /// What looks like the tool's output and is no result.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// One result in an imported file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Imported {
    /// The line of the piece on which it begins, from 1.
    pub line: usize,
    /// The machine, as the output names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What was asked for and what else makes results comparable, as far as the output tells:
    /// `{"size": "2 GiB", "streams": "4"}`. Results with other settings are not compared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    pub values: Values,
    /// What a person should know about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Versions of the tools that made it: `{"bonnie++": "1.03e"}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

/// A part of an imported file that is no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refused {
    /// The line of the piece, from 1.
    pub line: usize,
    /// What was expected there, and what was found.
    pub reason: String,
}
