//! `crossvisor completions`: what a shell needs to complete the command line.

use clap::CommandFactory;
use clap_complete::{generate, Shell};

use crate::arguments::Arguments;
use crate::exit::Failure;
use crate::output;

/// # Errors
/// [`Failure::Output`] when standard output does not take it.
pub fn execute(shell: Shell) -> Result<(), Failure> {
    // Through memory, because `generate` panics where the output fails.
    let mut script = Vec::new();
    generate(shell, &mut Arguments::command(), "crossvisor", &mut script);
    output::show(|out| out.write_all(&script))
}
