//! A run to look after.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crossvisor status runs/NAME
  watch crossvisor status runs/NAME
  crossvisor status runs/NAME --json")]
pub struct Status {
    /// A run directory, also of a run that goes on
    pub run: PathBuf,
    #[arg(long)]
    pub json: bool,
}
