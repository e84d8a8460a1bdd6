//! The commands, one file for each.
//!
//! Owns the way from what was asked for to the command that does it. It must never do more.

mod clean;
mod completions;
mod guest;
mod plan;
mod plugin;
mod report;
mod run;

use crate::arguments::{Arguments, Command, Guest, Plugin};
use crate::exit::{Exit, Failure};

/// Carries out the command.
///
/// # Errors
/// [`Failure`] when it could not be carried out.
pub fn execute(arguments: Arguments) -> Result<Exit, Failure> {
    let plugins = arguments.plugins;
    match arguments.command {
        Command::Run(asked) => return run::execute(&asked, plugins),
        Command::Plan(asked) => plan::execute(&asked, plugins)?,
        Command::Report(asked) => report::execute(&asked)?,
        Command::Guest(Guest::List) => guest::list()?,
        Command::Guest(Guest::Build { name, no_color }) => guest::build(&name, no_color)?,
        Command::Plugin(Plugin::List { json }) => plugin::list(json, plugins)?,
        Command::Clean(asked) => return clean::execute(&asked),
        Command::Completions { shell } => completions::execute(shell)?,
    }
    Ok(Exit::Good)
}
