//! Plugins: what is there, is it right, may it run.

use std::path::PathBuf;

use clap::Subcommand;
use crossvisor_model::{Name, Seconds};

use super::new_plugin::NewPlugin;

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
