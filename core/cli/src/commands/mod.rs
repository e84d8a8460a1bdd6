//! The commands, one file for each.
//!
//! Owns the way from what was asked for to the command that does it. It must never do more.

mod check;
mod clean;
mod compare;
mod completions;
mod doctor;
mod guest;
mod host;
mod import;
mod import_guest;
mod plan;
mod plugin;
mod plugin_check;
mod plugin_info;
mod plugin_new;
mod report;
mod resume;
mod run;
mod status;

use std::process::ExitCode;

use crossvisor_loader::plugin_host;
use crossvisor_model::HostGuest;

use crate::arguments::{Arguments, Command, Guest, Host, Plugin};
use crate::exit::{Exit, Failure};

/// Carries out the command.
///
/// # Errors
/// [`Failure`] when it could not be carried out.
pub fn execute(arguments: Arguments) -> Result<ExitCode, Failure> {
    let plugins = arguments.plugins;
    match arguments.command {
        Command::Run(asked) => return run::execute(&asked, plugins).map(Into::into),
        Command::Plan(asked) => plan::execute(&asked, plugins)?,
        Command::Resume(asked) => return resume::execute(&asked, plugins).map(Into::into),
        Command::Status(asked) => status::execute(&asked)?,
        Command::Report(asked) => report::execute(&asked)?,
        Command::Compare(asked) => compare::execute(&asked)?,
        Command::Check(asked) => return check::execute(&asked).map(Into::into),
        Command::Import(asked) => {
            let of_guests = import_guest::KINDS.contains(&asked.kind.as_str());
            let execute = if of_guests { import_guest::execute } else { import::execute };
            return execute(&asked, plugins).map(Into::into);
        }
        Command::Guest(Guest::List) => guest::list()?,
        Command::Guest(Guest::Build { name, no_color }) => guest::build(&name, no_color)?,
        Command::Plugin(Plugin::List { all, json }) => plugin::list(all, json, plugins)?,
        Command::Plugin(Plugin::Info { name, json }) => plugin_info::execute(&name, json, plugins)?,
        Command::Plugin(Plugin::New(asked)) => plugin_new::execute(&asked)?,
        Command::Plugin(Plugin::Check { file, deadline, transcripts, json }) => {
            return plugin_check::execute(&file, deadline, transcripts.as_deref(), json).map(Into::into);
        }
        Command::Plugin(Plugin::Trust { files }) => plugin::trust_all(&files)?,
        Command::Host(Host::Up { name, guest, memory, vcpus, disk }) => {
            let guest = guest.unwrap_or_else(|| name.clone());
            host::up(&name, &HostGuest { guest, memory, vcpus, disk }, plugins)?;
        }
        Command::Host(Host::Down { name }) => host::down(&name)?,
        Command::Host(Host::List) => host::list()?,
        Command::Host(Host::Shell { name, command }) => return host::shell(&name, &command),
        Command::Doctor(asked) => return doctor::execute(&asked, plugins).map(Into::into),
        Command::Clean(asked) => return clean::execute(&asked).map(Into::into),
        Command::Completions { shell } => completions::execute(shell)?,
        Command::PluginHost { arguments } => return Ok(plugin_host(&arguments)),
    }
    Ok(Exit::Good.into())
}
