//! A program that does nothing but run plugins for others, as `crossvisor plugin-host` does.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|verb| verb == crossvisor_loader::VERB) {
        return crossvisor_loader::plugin_host(&arguments.collect::<Vec<_>>());
    }
    ExitCode::FAILURE
}
