//! The command line: what can be asked for.
//!
//! Owns names, defaults and help texts. It must never act.

mod check;
mod clean;
mod compare;
mod doctor;
mod guest;
mod host;
mod import;
mod new_plugin;
mod plan;
mod plugin;
mod report;
mod resume;
mod run;
mod status;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use crossvisor_model::Name;

pub use check::Check;
pub use clean::Clean;
pub use compare::{Compare, CompareFormat};
pub use doctor::Doctor;
pub use guest::Guest;
pub use host::Host;
pub use import::Import;
pub use new_plugin::{Language, NewPlugin, PluginKind};
pub use plan::Plan;
pub use plugin::Plugin;
pub use report::{Format, Report};
pub use resume::Resume;
pub use run::Run;
pub use status::Status;

const EXAMPLES: &str = "\
Examples:
  crossvisor plan scenarios/quickstart.yaml   what would be done, touching nothing
  crossvisor run scenarios/quickstart.yaml    do it and compare
  crossvisor report runs/NAME --format csv    the figures of a finished run

Exit codes:
  0  good
  1  some cells failed, the run was interrupted or could not remove all that it made, parts of imported files were
     refused, or a plugin does not pass its check
  2  wrong scenario or usage, or nothing to import
  3  this machine cannot do it: missing programs, no room on the disk, no libvirt ...";

/// Provisions and benchmarks the same work under every hypervisor and storage backing, and compares.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    /// Load this file as the plugin NAME, before any other of that name (repeatable)
    #[arg(long = "plugin", global = true, value_name = "NAME=PATH", value_parser = named_plugin)]
    pub plugins: Vec<(Name, PathBuf)>,
    #[command(subcommand)]
    pub command: Command,
}

fn named_plugin(text: &str) -> Result<(Name, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("write it as NAME=PATH")?;
    if path.is_empty() {
        return Err("the path is empty: write it as NAME=PATH".into());
    }
    Ok((name.parse().map_err(|e| format!("{e}"))?, path.into()))
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Provision, measure, tear down and compare
    Run(Run),
    /// Show the cells, their order and every action, touching nothing
    Plan(Plan),
    /// Go on with a run that stopped: what is good in it stays, all else is done
    Resume(Resume),
    /// How far a run is, and when it will be through
    Status(Status),
    /// Show a stored run again
    Report(Report),
    /// Compare stored runs with the first of them
    Compare(Compare),
    /// Look whether a stored run is as it was written
    Check(Check),
    /// Make a run of results that were measured elsewhere, or a scenario of a guest of xm, xl or libvirt
    Import(Import),
    /// Guest images
    #[command(subcommand)]
    Guest(Guest),
    /// Plugins
    #[command(subcommand)]
    Plugin(Plugin),
    /// Hosts that are guests of this machine: a Xen or KVM host on a laptop
    #[command(subcommand)]
    Host(Host),
    /// Look whether hosts have what runs need, and say how to mend what they lack
    Doctor(Doctor),
    /// Remove what runs that were killed left behind
    Clean(Clean),
    /// Print the completions of a shell
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
    /// What the program starts itself as to run one plugin
    #[command(hide = true)]
    PluginHost {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_plugin_is_a_name_and_a_path() {
        assert_eq!(named_plugin("a-b=/x/y=z.so"), Ok(("a-b".parse().expect("name"), "/x/y=z.so".into())));
        assert!(named_plugin("a-b").is_err());
        assert!(named_plugin("a-b=").is_err());
        assert!(named_plugin("A=/x").expect_err("name").contains("'A'"));
    }
}
