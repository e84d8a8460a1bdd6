//! Runs one plugin, as the program itself does under its hidden verb.
//!
//! Owns nothing: it is the way to start a plugin's process without the libraries that the program is linked with,
//! which take longer to load than the plugin. It must never do more than the program would.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The verb, which says the same as this program's name.
    let arguments: Vec<_> = std::env::args_os().skip(2).collect();
    crossvisor_loader::plugin_host(&arguments)
}
