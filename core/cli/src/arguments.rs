//! The command line: what can be asked for.
//!
//! Owns names, defaults and help texts. It must never act.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use crossvisor_model::{Bytes, Name, Seconds};

const EXAMPLES: &str = "\
Examples:
  crossvisor plan scenarios/quickstart.yaml   what would be done, touching nothing
  crossvisor run scenarios/quickstart.yaml    do it and compare
  crossvisor report runs/NAME --format csv    the figures of a finished run

Exit codes:
  0  good
  1  some cells failed, the run was interrupted, parts of imported files were refused, or a plugin does not pass its
     check
  2  wrong scenario or usage, or nothing to import
  3  this machine cannot do it: missing programs, no room on the disk, no libvirt ...";

/// Provisions and benchmarks the same work under every hypervisor and storage backing, and compares.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    /// Load this file as the plugin NAME, before any other of that name (repeatable)
    #[arg(long = "plugin", global = true, value_name = "NAME=PATH", value_parser = plugin)]
    pub plugins: Vec<(Name, PathBuf)>,
    #[command(subcommand)]
    pub command: Command,
}

fn plugin(text: &str) -> Result<(Name, PathBuf), String> {
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

#[derive(Debug, Subcommand)]
pub enum Host {
    /// Make a host of a guest definition, to stay until 'host down'
    #[command(after_help = "\
Examples:
  crossvisor host up xen-host
  crossvisor host up lab --guest xen-host --memory 4GiB
  crossvisor host shell lab -- virsh list --all

In a scenario: 'hosts: {xen: {up: lab}}'.")]
    Up {
        /// What to call it
        name: Name,
        /// The definition of which it is made [default: the one called NAME]
        #[arg(long)]
        guest: Option<Name>,
        #[arg(long, value_name = "SIZE")]
        memory: Option<Bytes>,
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
        vcpus: Option<u32>,
        /// Length of its second disk, which it makes its volume group
        #[arg(long, value_name = "SIZE")]
        disk: Option<Bytes>,
    },
    /// Remove a host with all that is on it
    Down { name: Name },
    /// The hosts that were made, and how to reach them
    List,
    /// A shell on a host, or one command
    Shell {
        name: Name,
        #[arg(last = true)]
        command: Vec<OsString>,
    },
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crossvisor doctor
  crossvisor doctor scenarios/xen-vs-kvm.yaml
  crossvisor doctor --host xen+ssh://root@rack7/system --bridge br0")]
pub struct Doctor {
    /// Look at the hosts of this scenario
    #[arg(conflicts_with = "host")]
    pub scenario: Option<PathBuf>,
    /// A libvirt URI (repeatable) [default: this machine]
    #[arg(long, value_name = "URI")]
    pub host: Vec<String>,
    /// The bridge that its guests are to join
    #[arg(long, requires = "host")]
    pub bridge: Option<String>,
    /// OpenSSH configuration for it
    #[arg(long, value_name = "FILE", requires = "host")]
    pub ssh_config: Option<PathBuf>,
}

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

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crossvisor report runs/NAME
  crossvisor report runs/NAME --all
  crossvisor report runs/NAME --format html --output report.html")]
pub struct Report {
    /// A run directory
    pub run: PathBuf,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Every metric in text and Markdown; the other formats always have all
    #[arg(long)]
    pub all: bool,
}

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

#[derive(Args, Debug)]
#[command(after_help = "\
What is no result is told of with its file and line. Exit code 0: all was read; 1: parts were refused; 2: nothing
was a result.

Examples:
  crossvisor import bonnie old/*.csv
  crossvisor import iperf3 vm*.json --host rack7 --hypervisor xen-pv --storage lvm --guests 8
  ssh rack7 cat results.txt | crossvisor import bonnie - --json
  crossvisor import xl /etc/xen/web1.cfg --out web1.yaml
  virsh dumpxml web1 | crossvisor import libvirt -

xl reads configuration of xm and xl, libvirt domain XML. The scenario repeats the guest's shape; what has no
counterpart stands in it as comments.")]
pub struct Import {
    /// What printed the results: the name of an offer that imports, see 'plugin list'; or, of guests, xl or libvirt
    pub kind: String,
    /// The files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Folder that gets the run directory [default: runs]; for guests the scenario's file, or the folder of several
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Name of the run; its directory is called so [default: the kind with date and time]
    #[arg(long)]
    pub name: Option<Name>,
    /// The host that all results are of [default: the machine, as each file calls it]
    #[arg(long, value_name = "NAME")]
    pub host: Option<Name>,
    /// What ran the guests
    #[arg(long, value_name = "NAME", default_value = "bare")]
    pub hypervisor: Name,
    /// What the guests' volumes lived on
    #[arg(long, value_name = "NAME")]
    pub storage: Option<Name>,
    /// Guests at once; with --host each machine in the files is one of them
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub guests: u32,
    /// Print the results as lines of JSON instead
    #[arg(long, conflicts_with_all = ["out", "name", "host", "hypervisor", "storage", "guests"])]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Markdown,
    Csv,
    Json,
    Html,
    /// For time series databases
    Openmetrics,
}

#[derive(Debug, Subcommand)]
pub enum Guest {
    /// List the guests, and whether their images are built
    List,
    /// Build a guest's image, unless it is built
    #[command(after_help = "Example:\n  crossvisor guest build debian-12")]
    Build {
        /// A name that 'guest list' shows
        name: String,
        /// No colours; NO_COLOR in the environment means the same
        #[arg(long)]
        no_color: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum Plugin {
    /// List the plugins, what they offer and where they come from
    #[command(after_help = "\
A plugin is a library libcrossvisor_NAME.so or an executable crossvisor-plugin-NAME in a folder of
CROSSVISOR_PLUGIN_PATH, in crossvisor/plugins/v1 below the user's data folder, /usr/local/lib or
/usr/lib/x86_64-linux-gnu, or beside the program; where there is none, the one linked into the program.
--plugin wins over all. Those that lie elsewhere than beside the program must be trusted, see 'plugin trust'.")]
    List {
        /// Everything the search comes upon, also what is not loaded, and why
        #[arg(long)]
        all: bool,
        #[arg(long)]
        json: bool,
    },
    /// Show all that a plugin says of itself
    Info {
        /// A name that 'plugin list' shows
        name: Name,
        #[arg(long)]
        json: bool,
    },
    /// Write the project of a new plugin
    #[command(after_help = "\
The project builds, passes 'plugin check' and runs in a scenario as it is; its README has the commands.

Examples:
  crossvisor plugin new --lang c --kind storage mine
  crossvisor plugin new --lang python --kind workload compile --dir ~/src/compile")]
    New(NewPlugin),
    /// Hold a plugin against the contract, in a process of its own and without carrying out a step
    #[command(after_help = "\
Exit code 0: it keeps the contract; warnings are for its author to look at. Exit code 1: it does not.

Example:
  crossvisor plugin check ./libcrossvisor_storage_mine.so")]
    Check {
        /// The plugin's library or script
        file: PathBuf,
        /// How long one call may take
        #[arg(long, value_name = "TIME", default_value = "10s")]
        deadline: Seconds,
        /// Replay the transcripts in DIR/golden too, with recorded outputs from DIR/recorded
        #[arg(long, value_name = "DIR")]
        transcripts: Option<PathBuf>,
        #[arg(long)]
        json: bool,
    },
    /// Let the plugin in a file run, as the file is now
    #[command(after_help = "\
The file, its folder and all folders above it must belong to you or to root (for root: to root), and nobody else
may write to them. What is recorded is the checksum: a file that changes has to be trusted again.

Example:
  crossvisor plugin trust ~/.local/share/crossvisor/plugins/v1/libcrossvisor_storage_mine.so")]
    Trust {
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

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
        assert_eq!(plugin("a-b=/x/y=z.so"), Ok(("a-b".parse().expect("name"), "/x/y=z.so".into())));
        assert!(plugin("a-b").is_err());
        assert!(plugin("a-b=").is_err());
        assert!(plugin("A=/x").expect_err("name").contains("'A'"));
    }
}
