//! Runs to clean up after.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crossvisor clean --dry-run   what would be removed
  crossvisor clean             remove it; runs that are alive are left alone")]
pub struct Clean {
    /// Only this run's [default: every run's]
    pub run: Option<String>,
    /// Show what would be removed, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}
