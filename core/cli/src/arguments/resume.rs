//! A run to go on with.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
What the run left when it stopped is removed first. Cells that failed are tried again; the order is the one that was
planned.

Example:
  crossvisor resume runs/NAME")]
pub struct Resume {
    /// The run directory
    pub run: PathBuf,
    /// No colours; NO_COLOR in the environment means the same
    #[arg(long)]
    pub no_color: bool,
    /// No progress, only notices and the result
    #[arg(long, short)]
    pub quiet: bool,
}
