//! Guest images.

use clap::Subcommand;

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
