//! Runs to compare, and how to show that.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crossvisor compare runs/BEFORE runs/AFTER
  crossvisor compare runs/A runs/B runs/C --all --format csv --output runs.csv")]
pub struct Compare {
    /// Run directories; the others are compared with the first
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = CompareFormat::Text)]
    pub format: CompareFormat,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Every metric in text and Markdown; the other formats always have all
    #[arg(long)]
    pub all: bool,
    /// Rank also where guests, options, tools or acceleration are not the same
    #[arg(long)]
    pub allow_unlike: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    Text,
    Markdown,
    Csv,
    Json,
}
