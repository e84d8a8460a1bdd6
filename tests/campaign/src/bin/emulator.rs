//! Stands in for the emulator of a guest: a real QEMU with the guest's devices whose processor halts at once, so that
//! libvirt sees what it always sees, and an SSH server in namespaces of its own in the guest's place, which end with QEMU.
//!
//! It hands on all questions of what the emulator can do. It must never outlive the QEMU that it becomes.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crossvisor_campaign::guest::{self, Arguments};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The question whether KVM is usable: here it is not, on any machine.
    if arguments.iter().any(|argument| argument.starts_with("isa-debug-exit")) {
        eprintln!("this stands in for an emulator");
        return ExitCode::FAILURE;
    }
    let arguments = match Arguments::of_guest(&arguments) {
        None => arguments,
        Some(asked) => {
            if let Err(error) = guest::start(&asked) {
                eprintln!("the guest's SSH server: {error}");
                return ExitCode::FAILURE;
            }
            asked.emulator
        }
    };
    let error = Command::new(guest::EMULATOR).args(arguments).exec();
    eprintln!("{}: {error}", guest::EMULATOR);
    ExitCode::FAILURE
}
