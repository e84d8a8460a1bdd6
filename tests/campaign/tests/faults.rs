//! What goes wrong from outside while a run goes on, on guests that are stood in for: what is recorded, and that nothing
//! is left.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use crossvisor_campaign::{Machine, Scene};
use crossvisor_model::{CellStatus, Outcome, Phase};
use crossvisor_store::RunDirectory;
use crossvisor_tests::{Parts, Running, wait_until};
use rustix::process::{Pid, Signal, kill_process};

const LIMIT: Duration = Duration::from_secs(120);
/// A run whose guest works until it is disturbed, and then the bare host.
const LONG: &str = "workloads: {w: {use: command, argv: [sleep, '600']}}\n";
const QUICK: &str = "workloads: {w: {use: pi, digits: 100, repeat: 1}}\n";
/// The same work on a guest and on its host.
const HYPERVISORS: &str = "[kvm-virtio, bare]";

#[test]
fn each_fault_ends_its_cell_with_a_reason_and_leaves_nothing() {
    let machine = Machine::new().expect("machine");
    let mut bench = Bench { machine: &machine, before: Scene::default() };
    bench.scenario(HYPERVISORS, QUICK);
    let first = bench.start().wait(LIMIT);
    assert_eq!(first.status.code(), Some(0), "{}", bench.said());
    bench.remove_run();
    bench.before = Scene::of(&machine).expect("scene");
    let mut parts = Parts::new("faults");
    for (name, work) in PARTS {
        parts.part(name, || {
            work(&bench);
            bench.assert_nothing_is_left();
        });
    }
    parts.end();
}

type Part = (&'static str, fn(&Bench<'_>));
const PARTS: [Part; 7] = [
    ("emulator killed", emulator_killed),
    ("guest ended", guest_ended),
    ("guest hangs", guest_hangs),
    ("signals", signals),
    ("terminal gone", terminal_gone),
    ("controller's disk full", controller_full),
    ("controller's disk read-only", controller_read_only),
];

struct Bench<'m> {
    machine: &'m Machine,
    before: Scene,
}

impl Bench<'_> {
    /// Writes a scenario named `fault` of the same work on a guest and on the bare host.
    fn scenario(&self, hypervisors: &str, rest: &str) {
        let text = format!(
            "name: fault\nguest: {{image: stand-in, memory: 64MiB}}\nrepeat: 1\nmatrix: {{hypervisor: {hypervisors}, \
             storage: [file], guests: [1], workload: [w]}}\n{rest}"
        );
        fs::write(self.machine.path("fault.yaml"), text).expect("scenario");
    }

    fn start(&self) -> Running {
        Running::start(&mut self.machine.start("fault").expect("command"))
    }

    /// Starts a run, and waits until its guest works.
    fn start_work(&self) -> Running {
        self.scenario("[kvm-virtio]", LONG);
        let mut run = self.start();
        wait_until("the guest works", LIMIT, || self.events().contains(r#""released""#) || run.has_ended());
        assert!(!run.has_ended(), "{}", self.said());
        run
    }

    fn events(&self) -> String {
        fs::read_to_string(self.machine.run("fault").join("events.jsonl")).unwrap_or_default()
    }

    fn said(&self) -> String {
        fs::read_to_string(self.machine.path("said")).unwrap_or_default()
    }

    fn outcomes(&self) -> Vec<Outcome> {
        RunDirectory::read(&self.machine.run("fault")).expect("run directory").outcomes
    }

    /// The phase and reason of the one cell that failed, after a run that ended with 1.
    fn failure(&self, run: Running) -> (Phase, String) {
        assert_eq!(run.wait(LIMIT).status.code(), Some(1), "{}", self.said());
        let failed = self.outcomes().into_iter().filter_map(|outcome| match outcome.status {
            CellStatus::Failed { phase, reason } => Some((phase, reason)),
            _ => None,
        });
        let failed: Vec<_> = failed.collect();
        let [one] = &failed[..] else { panic!("{failed:?}: {}", self.said()) };
        one.clone()
    }

    /// Runs the program to its end in mounts of its own, after the shell commands `mounts`.
    fn run_with(&self, mounts: &str) -> Option<i32> {
        let program = self.machine.start("fault").expect("command");
        let said = fs::OpenOptions::new().append(true).open(self.machine.path("said")).expect("file");
        let mut command = Command::new("unshare");
        command.args(["--mount", "--", "sh", "-c", &format!("{mounts} && exec \"$@\""), "sh"]);
        command.arg(program.get_program()).args(program.get_args()).current_dir(self.machine.folder());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::null()).stdout(said.try_clone().expect("file")).stderr(said);
        Running::start(&mut command).wait(LIMIT).status.code()
    }

    /// Processes of the guest whose command lines have `words`.
    fn processes(&self, words: &str) -> Vec<Pid> {
        let folder = self.machine.folder().display().to_string();
        let numbers = fs::read_dir("/proc").expect("/proc").flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_string_lossy().parse::<i32>().ok());
        let line = |pid: &i32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_one = |pid: &i32| {
            let line = String::from_utf8_lossy(&line(pid)).replace('\0', " ");
            line.contains(&folder) && line.contains(words)
        };
        numbers.filter(is_one).filter_map(Pid::from_raw).collect()
    }

    fn remove_run(&self) {
        // A run that was refused has none.
        let _ = fs::remove_dir_all(self.machine.run("fault"));
    }

    fn assert_nothing_is_left(&self) {
        self.remove_run();
        let left = || Scene::of(self.machine).expect("scene").added_to(&self.before);
        wait_until(&format!("nothing is left: {:?}", left()), Duration::from_secs(10), || left().is_empty());
    }
}

/// What the kernel does to the largest process when memory runs out (oom_kill), here to a guest's emulator.
fn emulator_killed(bench: &Bench<'_>) {
    let run = bench.start_work();
    let [emulator] = bench.processes("guest=cv-")[..] else { panic!("not one emulator") };
    kill_process(emulator, Signal::KILL).expect("kill");
    let (phase, reason) = bench.failure(run);
    assert_eq!(phase, Phase::Run);
    assert!(reason.contains("the connection was lost"), "{reason}");
}

/// All processes of the guest end at once, as when its kernel panics; its emulator stays.
fn guest_ended(bench: &Bench<'_>) {
    let run = bench.start_work();
    let carrier = bench.processes("unshare --mount");
    carrier.into_iter().for_each(|pid| kill_process(pid, Signal::KILL).expect("kill"));
    let (phase, reason) = bench.failure(run);
    assert_eq!(phase, Phase::Run);
    assert!(reason.contains("the connection was lost"), "{reason}");
}

/// Connections stay and nothing comes over them: the phase's deadline ends it.
fn guest_hangs(bench: &Bench<'_>) {
    bench.scenario("[kvm-virtio]", &format!("{LONG}deadlines: {{run: 5s}}\n"));
    let mut run = bench.start();
    wait_until("the guest works", LIMIT, || bench.events().contains(r#""released""#) || run.has_ended());
    let server = bench.processes("sshd_config");
    assert!(!server.is_empty());
    for listener in &server {
        stop_with_children(*listener);
    }
    let (phase, reason) = bench.failure(run);
    assert_eq!(phase, Phase::Run);
    assert!(reason.contains("deadline"), "{reason}");
}

fn stop_with_children(pid: Pid) {
    let number = pid.as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{number}/task/{number}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?));
    children.for_each(stop_with_children);
    // It may have ended meanwhile.
    let _ = kill_process(pid, Signal::STOP);
}

/// Ctrl-C once, twice and three times, and what a service manager sends: all but the third leave nothing.
fn signals(bench: &Bench<'_>) {
    for (signal, times) in [(Signal::INT, 1), (Signal::INT, 2), (Signal::TERM, 1), (Signal::INT, 3)] {
        let mut run = bench.start_work();
        for said in ["stopping: removing", "still removing", "left at once"].into_iter().take(times) {
            let pid = Pid::from_raw(i32::try_from(run.id()).expect("pid")).expect("pid");
            kill_process(pid, signal).expect("signal");
            wait_until(said, LIMIT, || bench.said().contains(said) || run.has_ended());
        }
        let status = run.wait(LIMIT).status;
        assert_eq!(status.code(), Some(1), "{signal:?} {times} times: {status}: {}", bench.said());
        if times == 3 {
            bench.machine.must(&["clean"]).expect("clean");
        } else {
            let status = bench.outcomes()[0].status.clone();
            assert!(matches!(status, CellStatus::Skipped { .. }), "{status:?}");
        }
        bench.assert_nothing_is_left();
    }
}

/// Nobody reads what it says any more, and then the terminal's hang-up comes.
fn terminal_gone(bench: &Bench<'_>) {
    bench.scenario("[kvm-virtio]", LONG);
    let mut command = bench.machine.start("fault").expect("command");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    drop((child.stdout.take(), child.stderr.take()));
    wait_until("the guest works", LIMIT, || bench.events().contains(r#""released""#));
    kill_process(Pid::from_child(&child), Signal::HUP).expect("signal");
    let status = child.wait().expect("ended");
    assert_eq!(status.code(), Some(1), "{status}");
    assert!(bench.machine.run("fault").join("report.html").is_file());
}

fn controller_full(bench: &Bench<'_>) {
    bench.scenario(HYPERVISORS, "workloads: {w: {use: command, argv: [head, -c, '4000000', /dev/zero]}}\n");
    let code = bench.run_with("mount -t tmpfs -o size=1M none runs");
    assert_eq!(code, Some(3), "{}", bench.said());
    assert!(bench.said().contains("No space left on device"), "{}", bench.said());
}

fn controller_read_only(bench: &Bench<'_>) {
    bench.scenario(HYPERVISORS, QUICK);
    let code = bench.run_with("mount -t tmpfs -o ro none runs");
    assert_eq!(code, Some(3), "{}", bench.said());
    assert!(bench.said().contains("Read-only file system"), "{}", bench.said());
}
