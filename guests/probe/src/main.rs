//! `crossvisor-probe`: the program that runs inside a guest.
//!
//! Owns its command line and exit codes. It uses the standard library alone and must never need a file, a
//! network or a library of the machine it runs on.

mod gate;
mod pi;
mod protocol;
mod tsc;

use std::process::ExitCode;

const USAGE: &str = "usage: crossvisor-probe gate -- PROGRAM [ARGUMENT...]
       crossvisor-probe pi --digits N [--repeat R]";

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
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
