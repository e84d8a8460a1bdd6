//! A run to look at.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Exit code 0: all is as it was written, or was repaired; 1: something is not.

Examples:
  crossvisor check runs/NAME
  crossvisor check runs/NAME --repair")]
pub struct Check {
    /// The run directory
    pub run: PathBuf,
    /// Move damaged lines to damaged.jsonl, so that all else can be read; 'resume' then measures again what is missing
    #[arg(long)]
    pub repair: bool,
}
