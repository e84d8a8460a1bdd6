//! A run to show, and how.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crossvisor report runs/NAME
  crossvisor report runs/NAME --all
  crossvisor report runs/NAME --format html --output report.html
  crossvisor report runs/NAME --format svg --output charts")]
pub struct Report {
    /// A run directory
    pub run: PathBuf,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write to this file instead of standard output; to this folder with --format svg
    #[arg(long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Every metric in text and Markdown; the other formats always have all
    #[arg(long)]
    pub all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    Csv,
    Json,
    Html,
    /// A file for each chart, in the folder --output
    Svg,
    /// For time series databases
    Openmetrics,
}
