//! What to run.

use std::path::PathBuf;

use clap::Args;
use crossvisor_model::Name;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crossvisor run scenarios/quickstart.yaml
  crossvisor run disk.yaml --out /srv/runs --name disk-1
  crossvisor run disk.yaml --dry-run

Ctrl-C stops the run: what it created is removed and what it measured is kept.")]
pub struct Run {
    /// The scenario's YAML file
    pub scenario: PathBuf,
    /// Folder that gets the run directory
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub out: PathBuf,
    /// Name of the run; its directory is called so [default: the scenario's name with date and time]
    #[arg(long)]
    pub name: Option<Name>,
    /// Show every action as 'plan' does, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// No colours; NO_COLOR in the environment means the same
    #[arg(long)]
    pub no_color: bool,
    /// No progress, only notices and the result
    #[arg(short, long)]
    pub quiet: bool,
}
