//! `crossvisor-probe`: the program that runs inside a guest.
//!
//! Owns its command line and exit codes. It uses the standard library alone and must never need a file, a
//! network or a library of the machine it runs on, but for the tree job, whose work is files: it runs cp and sync.

mod cost;
mod cpu;
mod follow;
mod gate;
mod memory;
mod memread;
mod memwrite;
mod pi;
mod protocol;
mod sample;
mod tree;
mod tsc;
mod words;

use std::io;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

const USAGE: &str = "usage: crossvisor-probe gate -- PROGRAM [ARGUMENT...]
       crossvisor-probe sample --interval SECONDS
       crossvisor-probe follow -- PROGRAM [ARGUMENT...]
       crossvisor-probe pi --digits N [--repeat R]
       crossvisor-probe cpu --limit N --repeat R
       crossvisor-probe memread|memwrite --size BYTES --repeat R
       crossvisor-probe tree make|copy --files N --copies C --folder PATH";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["gate", "--", program, arguments @ ..] => ExitCode::from(gate::run(program, arguments)),
        ["sample", "--interval", seconds] => match seconds.parse().map(Duration::try_from_secs_f64) {
            Ok(Ok(interval)) if !interval.is_zero() => ended(sample::run(interval, &input_ended())),
            _ => usage(),
        },
        ["follow", "--", program, arguments @ ..] => ended(follow::run(program, arguments, input_ended())),
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
        ["tree", "make", options @ ..] => over_trees(options, tree::Job::make),
        ["tree", "copy", options @ ..] => over_trees(options, tree::Job::copy),
        _ => usage(),
    }
}

/// Told once standard input has ended: nobody wants more.
fn input_ended() -> Receiver<()> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        // An error is as good as the end, and so is a receiver that is gone.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = sender.send(());
    });
    receiver
}

fn ended(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("crossvisor-probe: {error}");
            ExitCode::FAILURE
        }
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

fn over_trees(options: &[&str], verb: fn(&tree::Job) -> io::Result<String>) -> ExitCode {
    let Some(job) = tree::Job::from_options(options) else { return usage() };
    ended(verb(&job).map(|line| println!("{line}")))
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
