//! `crossvisor-probe`: the program that runs inside a guest.
//!
//! Owns its command line and exit codes. It uses the standard library alone and must never need a file, a
//! network or a library of the machine it runs on.

mod cost;
mod cpu;
mod gate;
mod memory;
mod memread;
mod memwrite;
mod pi;
mod protocol;
mod tsc;
mod words;

use std::process::ExitCode;

const USAGE: &str = "usage: crossvisor-probe gate -- PROGRAM [ARGUMENT...]
       crossvisor-probe pi --digits N [--repeat R]
       crossvisor-probe cpu --limit N --repeat R
       crossvisor-probe memread|memwrite --size BYTES --repeat R";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["gate", "--", program, arguments @ ..] => ExitCode::from(gate::run(program, arguments)),
        ["pi", options @ ..] => match pi::Job::from_options(options) {
            Some(job) => {
                println!("{}", job.run().json());
                ExitCode::SUCCESS
            }
            None => usage(),
        },
        ["cpu", options @ ..] => match cpu::Job::from_options(options) {
            Some(job) => {
                println!("{}", job.run());
                ExitCode::SUCCESS
            }
            None => usage(),
        },
        ["memread", options @ ..] => over_memory(options, memread::run),
        ["memwrite", options @ ..] => over_memory(options, memwrite::run),
        _ => usage(),
    }
}

fn over_memory(options: &[&str], job: fn(&memory::Asked) -> Option<String>) -> ExitCode {
    let Some(asked) = memory::Asked::from_options(options) else { return usage() };
    match job(&asked) {
        Some(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("there are no {} bytes of memory to work on", asked.bytes);
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
