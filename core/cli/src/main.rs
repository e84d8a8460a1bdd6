//! The program `crossvisor`.
//!
//! Owns the way from the command line to an exit code. It must never do what a library of this workspace could.

mod action_text;
mod arguments;
mod commands;
mod exit;
mod inventory;
mod libvirt_log;
mod output;
mod planned;
mod progress;
mod run_name;
mod signals;
mod template;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let arguments = arguments::Arguments::parse();
    commands::execute(arguments).unwrap_or_else(|failure| {
        output::say(&format!("error: {}", failure.shown()));
        failure.exit().into()
    })
}
