//! The measured moment: every instance waits at its gate, all are let go together, and each one's time is taken on
//! the controller as well as on its own machine.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossvisor_model::{Exec, ExecResult, Load, Place, Window};
use crossvisor_target::{Cancel, Machine, TargetError, port};

use crate::gate::{Aligned, Finished, Gated, Going};
use crate::steps::{Round, StepError};

/// How long a server may take until it listens.
const SERVER_START: Duration = Duration::from_secs(20);
/// The agreed moment is so far ahead, and so many times the way to the farthest machine, that all know of it before.
const LEAD: Duration = Duration::from_millis(20);
const WAYS: u32 = 4;

/// The sockets of a machine. One without IPv6 lacks two of them.
const TABLES: [&str; 5] = ["cat", "/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6"];

/// What came of one round.
pub struct Measured {
    /// From the first to the last instance's start, in seconds.
    pub skew_s: f64,
    /// By instance, in the order of the round's runs.
    pub instances: Vec<Result<InstanceResult, TargetError>>,
}

/// What came of one instance.
pub struct InstanceResult {
    pub result: ExecResult,
    pub window: Window,
    /// When it was at work: longer than its window where it did its work again until the others had done theirs.
    pub busy: Window,
    /// Seconds that the machine's own clock gained on the controller's.
    pub drift_s: f64,
    /// Seconds by which the machine's time of day was set meanwhile.
    pub set_s: f64,
}

/// What a round is done with.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    pub machine: &'a (dyn Fn(Place) -> Result<&'a dyn Machine, TargetError> + Sync),
    /// Where the probe is at a place.
    pub probe: &'a (dyn Fn(Place) -> PathBuf + Sync),
    /// A span of time as the run counts it.
    pub window: &'a (dyn Fn(Instant, Instant) -> Window + Sync),
    pub load: Load,
    pub deadline: Instant,
    pub cancel: &'a Cancel,
}

/// What an instance came to: its own work, and whether it kept working until the last had done theirs.
struct Pass {
    finished: Finished,
    start: Instant,
    end: Instant,
    kept_up: bool,
}

/// Carries out a round; `released` is told the skew once all instances are at work.
///
/// # Errors
/// [`StepError`] when a server or a gate does not start; then nothing was let go.
pub fn round(field: Field<'_>, round: &Round<'_>, released: &dyn Fn(f64)) -> Result<Measured, StepError> {
    let failed = |say: &str, source| StepError::Step { say: format!("round {}: {say}", round.name), source };
    let servers = field.start_servers(round).map_err(|e| failed("start the server", e))?;
    let aligned = field.hold(round.runs).map_err(|e| failed("start the work", e))?;
    let went = field.release(aligned);
    let skew_s = skew_s(&went);
    released(skew_s);
    let instances = field.finish(went, round.runs);
    servers.into_iter().for_each(Going::end);
    Ok(Measured { skew_s, instances })
}

impl Field<'_> {
    fn start(&self, exec: &Exec, cancel: &Cancel) -> Result<Gated, TargetError> {
        Gated::start((self.machine)(exec.on)?, &(self.probe)(exec.on), exec, self.deadline, cancel)
    }

    fn start_servers(&self, round: &Round<'_>) -> Result<Vec<Going>, TargetError> {
        let (deadline, cancel) = (self.deadline, self.cancel);
        let start = |server: &crossvisor_model::action::Server| {
            let gated = self.start(&server.exec, cancel)?;
            let going = gated.align(deadline, cancel)?.release(deadline, cancel)?;
            let machine = (self.machine)(server.exec.on)?;
            wait_until_listening(machine, &server.exec, server.port, cancel)?;
            Ok(going)
        };
        round.servers.iter().map(start).collect()
    }

    /// Brings every instance to its gate, all at once, and then holds their clocks against ours.
    fn hold(&self, runs: &[Exec]) -> Result<Vec<Aligned>, TargetError> {
        let (deadline, cancel) = (self.deadline, self.cancel);
        let gated: Result<Vec<Gated>, _> = each(runs, |exec| self.start(exec, cancel)).into_iter().collect();
        each(gated?, |gated| gated.align(deadline, cancel)).into_iter().collect()
    }

    /// Lets all go at the same moment.
    fn release(&self, aligned: Vec<Aligned>) -> Vec<Result<Going, TargetError>> {
        let farthest = aligned.iter().map(|aligned| aligned.error).max().unwrap_or_default();
        let moment = Instant::now() + LEAD + farthest * WAYS;
        each(aligned, |aligned| aligned.release_at(moment, self.deadline, self.cancel))
    }

    /// Waits for all; returns what came of each.
    fn finish(
        &self,
        went: Vec<Result<Going, TargetError>>,
        runs: &[Exec],
    ) -> Vec<Result<InstanceResult, TargetError>> {
        let at_work = AtomicUsize::new(went.len());
        let over = self.cancel.child();
        let passes = each(went.into_iter().zip(runs), |(going, exec)| {
            let pass = self.first_pass(going, exec);
            if at_work.fetch_sub(1, Ordering::SeqCst) == 1 {
                over.raise();
            }
            let mut pass = pass?;
            pass.kept_up = self.load == Load::UntilAllFinish && self.keep_up(exec, &over);
            Ok(pass)
        });
        let last = passes.iter().flatten().map(|pass| pass.end).max();
        passes.into_iter().map(|pass| pass.map(|pass| self.instance_result(pass, last))).collect()
    }

    fn first_pass(&self, going: Result<Going, TargetError>, exec: &Exec) -> Result<Pass, TargetError> {
        let deadline = self.deadline.min(Instant::now() + Duration::from_secs_f64(exec.timeout_s));
        let going = going?;
        let start = going.went;
        let finished = going.finish(deadline, self.cancel)?;
        Ok(Pass { finished, start, end: Instant::now(), kept_up: false })
    }

    /// Does the work again and again until all have done theirs once; false where it fails before.
    fn keep_up(&self, exec: &Exec, over: &Cancel) -> bool {
        while !over.is_raised() {
            let again = self
                .start(exec, over)
                .and_then(|gated| gated.align(self.deadline, over))
                .and_then(|aligned| aligned.release(self.deadline, over))
                .and_then(|going| going.finish(self.deadline, over));
            let good =
                again.is_ok_and(|finished| finished.exit.is_some_and(|exit| exec.ok_exit.contains(&exit)));
            if !good && !over.is_raised() {
                return false;
            }
        }
        true
    }

    fn instance_result(&self, pass: Pass, last: Option<Instant>) -> InstanceResult {
        let Pass { finished, start, end, kept_up } = pass;
        let wall_s = end.saturating_duration_since(start).as_secs_f64();
        let Finished { exit, stdout, stderr, own_s, set_s } = finished;
        let busy_until = last.filter(|_| kept_up).unwrap_or(end);
        InstanceResult {
            result: ExecResult { exit, stdout, stderr, wall_s },
            window: (self.window)(start, end),
            busy: (self.window)(start, busy_until),
            drift_s: own_s - wall_s,
            set_s,
        }
    }
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

/// Does the same with all at once, each in a thread; returns what came of each, in their order.
fn each<I: IntoIterator<Item: Send>, T: Send>(
    items: I,
    work: impl Fn(I::Item) -> Result<T, TargetError> + Sync,
) -> Vec<Result<T, TargetError>> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = items.into_iter().map(|item| scope.spawn(move || work(item))).collect();
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

/// A thread of ours broke; its panic is on standard error.
fn lost() -> TargetError {
    TargetError::EndedEarly { what: "a thread of this program".into(), tail: "it panicked".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_target::Local;
    use std::os::unix::fs::PermissionsExt;

    /// Carries out a round of these programs on this machine.
    fn measured(load: Load, programs: &[&str]) -> Measured {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("probe");
        std::fs::write(&path, crossvisor_probe::BINARY).expect("probe");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("mode");
        let began = Instant::now();
        let at = |moment: Instant| moment.saturating_duration_since(began).as_secs_f64();
        let field = Field {
            machine: &|_| Ok(&Local),
            probe: &|_| path.clone(),
            window: &|start, end| Window { start_s: at(start), end_s: at(end) },
            load,
            deadline: began + Duration::from_secs(60),
            cancel: &Cancel::default(),
        };
        let runs: Vec<Exec> =
            programs.iter().map(|script| Exec::new(Place::Host, ["sh", "-c", script], 30.0)).collect();
        round(field, &Round { name: "r", servers: &[], runs: &runs }, &|_| ())
            .unwrap_or_else(|e| panic!("{e}"))
    }

    fn instances(measured: &Measured) -> Vec<&InstanceResult> {
        let instances = measured.instances.iter().map(|one| one.as_ref().unwrap_or_else(|e| panic!("{e}")));
        instances.collect()
    }

    /// The least of a few tries: what else the machine does is not what is measured here.
    #[test]
    fn eight_instances_start_within_five_milliseconds() {
        let skew = |_| measured(Load::Once, &["true"; 8]).skew_s;
        let least = (0..5).map(skew).fold(f64::INFINITY, f64::min);
        assert!(least <= 0.005, "{least} s");
    }

    #[test]
    fn those_that_are_done_keep_working_until_all_are() {
        let all = measured(Load::UntilAllFinish, &["echo 1; sleep 0.1", "sleep 1", "exit 3"]);
        let all = instances(&all);
        let (quick, slow, failing) = (all[0], all[1], all[2]);
        assert_eq!(quick.result.stdout, "1\n", "only the first time counts");
        assert!(quick.window.length_s() < 0.8, "{:?}", quick.window);
        assert!(slow.window.overlap(&[quick.busy]) > 0.95, "{:?} {:?}", slow.window, quick.busy);
        assert_eq!(failing.busy, failing.window, "what fails is not tried again");
        let once = measured(Load::Once, &["sleep 0.1", "sleep 1"]);
        let once = instances(&once);
        assert!(once[1].window.overlap(&[once[0].busy]) < 0.8);
    }

    #[test]
    fn time_is_taken_on_both_sides() {
        let one = measured(Load::Once, &["sleep 0.3"]);
        let one = instances(&one);
        assert!(one[0].window.length_s() >= 0.3 && one[0].drift_s.abs() < 0.2, "{}", one[0].drift_s);
    }
}
