//! A plugin to begin with.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use crossvisor_model::Name;

#[derive(Args, Debug)]
pub struct NewPlugin {
    /// The plugin's name; the kind is put before it where it is not there already
    pub name: Name,
    #[arg(long, value_enum)]
    pub lang: Language,
    #[arg(long, value_enum)]
    pub kind: PluginKind,
    /// The project's folder, which must not exist [default: the plugin's name]
    #[arg(long)]
    pub dir: Option<PathBuf>,
    /// Rust: the folder of the crate crossvisor-plugin [default: this version from crates.io]
    #[arg(long, value_name = "DIR", env = "CROSSVISOR_SDK")]
    pub sdk: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    C,
    Rust,
    Python,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PluginKind {
    Hypervisor,
    Storage,
    Workload,
}
