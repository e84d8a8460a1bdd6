//! The measured moment: every instance waits at its gate, all are let go together, and each one's time is taken on
//! the controller as well as on its own machine.

use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crossvisor_model::{Exec, ExecResult, Place, Window};
use crossvisor_target::{Cancel, Machine, TargetError, port};

use crate::gate::{Finished, Gated, Going};
use crate::log::Log;
use crate::steps::{Round, StepError, Steps};

/// How long a server may take until it listens.
const SERVER_START: Duration = Duration::from_secs(20);

/// The sockets of a machine. One without IPv6 lacks two of them.
const TABLES: [&str; 5] = ["cat", "/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6"];

/// What came of one round.
pub struct Measured {
    /// From the first to the last instance's first line, in seconds.
    pub skew_s: f64,
    /// By instance, in the order of the round's runs.
    pub instances: Vec<Result<InstanceResult, TargetError>>,
}

/// What came of one instance.
pub struct InstanceResult {
    pub result: ExecResult,
    pub window: Window,
    /// Seconds that the machine's own clock gained on the controller's.
    pub drift_s: f64,
}

/// Carries out a round; `probe` tells where the probe is at a place, and `released` is told the skew once all
/// instances are at work.
///
/// # Errors
/// [`StepError`] when a server or a gate does not start; then nothing was let go.
pub fn round<'p>(
    (steps, log): (&Steps<'_>, &Log<'_>),
    round: &Round<'_>,
    probe: &(dyn Fn(Place) -> &'p Path + Sync),
    deadline: Instant,
    released: &dyn Fn(f64),
) -> Result<Measured, StepError> {
    let failed = |say: &str, source| StepError::Step { say: format!("round {}: {say}", round.name), source };
    let servers = start_servers(steps, round, probe, deadline).map_err(|e| failed("start the server", e))?;
    let gated = hold(steps, round.runs, probe, deadline).map_err(|e| failed("start the work", e))?;
    let went = release(gated, deadline, steps.cancel);
    let skew_s = skew_s(&went);
    released(skew_s);
    let instances = finish(went, round.runs, deadline, (steps, log));
    servers.into_iter().for_each(Going::end);
    Ok(Measured { skew_s, instances })
}

fn start_servers<'p>(
    steps: &Steps<'_>,
    round: &Round<'_>,
    probe: &(dyn Fn(Place) -> &'p Path + Sync),
    deadline: Instant,
) -> Result<Vec<Going>, TargetError> {
    let start = |server: &crossvisor_model::action::Server| {
        let machine = steps.machine(server.exec.on)?;
        let gated = Gated::start(machine, probe(server.exec.on), &server.exec, deadline, steps.cancel)?;
        let going = gated.release(deadline, steps.cancel)?;
        wait_until_listening(machine, &server.exec, server.port, steps.cancel)?;
        Ok(going)
    };
    round.servers.iter().map(start).collect()
}

fn wait_until_listening(
    machine: &dyn Machine,
    exec: &Exec,
    port: u16,
    cancel: &Cancel,
) -> Result<(), TargetError> {
    let deadline = Instant::now() + SERVER_START;
    let what = format!("{} (to listen on port {port})", exec.argv.join(" "));
    let table = Exec::new(exec.on, TABLES, 10.0);
    while !port::is_listening(&machine.run(&table, cancel)?.stdout, port) {
        cancel.check(deadline, &what)?;
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Brings every instance to its gate, all at once.
fn hold<'p>(
    steps: &Steps<'_>,
    runs: &[Exec],
    probe: &(dyn Fn(Place) -> &'p Path + Sync),
    deadline: Instant,
) -> Result<Vec<Gated>, TargetError> {
    thread::scope(|scope| {
        let threads: Vec<_> = runs
            .iter()
            .map(|exec| {
                scope.spawn(move || {
                    Gated::start(steps.machine(exec.on)?, probe(exec.on), exec, deadline, steps.cancel)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(lost()))).collect()
    })
}

/// Lets all go at the same moment.
fn release(gated: Vec<Gated>, deadline: Instant, cancel: &Cancel) -> Vec<Result<Going, TargetError>> {
    let together = Barrier::new(gated.len());
    thread::scope(|scope| {
        let let_go = |gated: Gated| {
            let together = &together;
            scope.spawn(move || {
                together.wait();
                gated.release(deadline, cancel)
            })
        };
        let threads: Vec<_> = gated.into_iter().map(let_go).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(lost()))).collect()
    })
}

/// Seconds from the first to the last start.
fn skew_s(went: &[Result<Going, TargetError>]) -> f64 {
    let starts = || went.iter().flatten().map(|going| going.went);
    match (starts().min(), starts().max()) {
        (Some(first), Some(last)) => (last - first).as_secs_f64(),
        _ => 0.0,
    }
}

/// Waits for all; returns what came of each.
fn finish(
    went: Vec<Result<Going, TargetError>>,
    runs: &[Exec],
    deadline: Instant,
    (steps, log): (&Steps<'_>, &Log<'_>),
) -> Vec<Result<InstanceResult, TargetError>> {
    let cancel = steps.cancel;
    thread::scope(|scope| {
        let wait = |(going, exec): (Result<Going, TargetError>, &Exec)| {
            let deadline = deadline.min(Instant::now() + Duration::from_secs_f64(exec.timeout_s));
            scope.spawn(move || {
                let going = going?;
                let start = going.went;
                let finished = going.finish(deadline, cancel)?;
                Ok(instance_result(finished, start, Instant::now(), log))
            })
        };
        let threads: Vec<_> = went.into_iter().zip(runs).map(wait).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(lost()))).collect()
    })
}

fn instance_result(finished: Finished, start: Instant, end: Instant, log: &Log<'_>) -> InstanceResult {
    let wall_s = (end - start).as_secs_f64();
    let Finished { exit, stdout, stderr, own_s } = finished;
    InstanceResult {
        result: ExecResult { exit, stdout, stderr, wall_s },
        window: log.window(start, end),
        drift_s: own_s - wall_s,
    }
}

/// A thread of ours broke; its panic is on standard error.
fn lost() -> TargetError {
    TargetError::EndedEarly { what: "a thread of this program".into(), tail: "it panicked".into() }
}
