//! What to plan, and how to show it.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crossvisor plan scenarios/quickstart.yaml
  crossvisor plan scenarios/quickstart.yaml --cells | wc -l
  crossvisor plan scenarios/quickstart.yaml --json")]
pub struct Plan {
    /// The scenario's YAML file
    pub scenario: PathBuf,
    /// Plan and actions as JSON, with domain XML in full
    #[arg(long, conflicts_with = "cells")]
    pub json: bool,
    /// Only the cells, one a line
    #[arg(long)]
    pub cells: bool,
}
