//! `campaign`: kills the program at every point of a run, and shows what was left behind, lost or wrongly touched.

use std::io;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Parser;
use crossvisor_campaign::decoys::Decoys;
use crossvisor_campaign::point::{Extent, all, thinned};
use crossvisor_campaign::samples::Finished;
use crossvisor_campaign::{After, Machine, Point, Scene, Tally, kill, trial};

/// Kills the program at every point of a run, lets it go on or clean up, and looks what is left.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only about this many points, spread over all
    #[arg(long)]
    most: Option<usize>,
    /// At least this many points
    #[arg(long, default_value_t = 240)]
    least: usize,
    /// Of the random times
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Machines that are tried on at once
    #[arg(long, default_value_t = 2)]
    machines: usize,
}

/// Two cells on each of two backings, and on the bare host.
const ALL: &str = "
name: all
guest: {image: stand-in, memory: 64MiB}
matrix:
  hypervisor: [bare, kvm-virtio]
  storage: [file, loop]
  guests: [1, 2]
  workload: [pi, more]
  exclude: [{storage: loop, guests: 1}, {storage: file, guests: 2}, {hypervisor: bare, guests: 2}]
workloads: {pi: {digits: 100, repeat: 1}, more: {use: pi, digits: 200, repeat: 1}}
repeat: 1
";
const FILES: &str = "
name: files
guest: {image: stand-in, memory: 64MiB}
matrix: {hypervisor: [kvm-virtio], storage: [file], guests: [2], workload: [pi]}
workloads: {pi: {digits: 100, repeat: 1}}
repeat: 1
";

/// Name, text and number of cells of each.
const SCENARIOS: [(&str, &str, usize); 2] = [("all", ALL, 6), ("files", FILES, 1)];

fn main() -> ExitCode {
    match campaign(&Arguments::parse()) {
        Ok(tally) if tally.is_good() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("the campaign cannot go on: {error}");
            ExitCode::from(3)
        }
    }
}

fn campaign(arguments: &Arguments) -> io::Result<Tally> {
    let began = Instant::now();
    let first = Ready::new()?;
    let trials = trials(&first.runs, arguments);
    println!("{} points, seed {}", trials.len(), arguments.seed);
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let work = |ready: Ready| on_a_machine(&ready, &trials, &next, &tally);
    std::thread::scope(|scope| {
        let mut threads = vec![scope.spawn(move || work(first))];
        threads.extend((1..arguments.machines).map(|_| scope.spawn(move || work(Ready::new()?))));
        let panicked = |_| Err(io::Error::other("a thread panicked"));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(panicked))
    })?;
    let tally = tally.into_inner().unwrap_or_default();
    print!("\n{tally}");
    println!("in {:.0} s", began.elapsed().as_secs_f64());
    Ok(tally)
}

/// A machine on which each scenario has been run once.
struct Ready {
    machine: Machine,
    runs: [Whole; 2],
}

/// A run that was not disturbed: how long it was, and what it finished.
struct Whole {
    extent: Extent,
    finished: Finished,
}

impl Ready {
    fn new() -> io::Result<Self> {
        let machine = Machine::new()?;
        // What the emulator can do is asked once, which takes its time.
        machine.must(&["doctor"])?;
        let runs = [whole(&machine, SCENARIOS[0])?, whole(&machine, SCENARIOS[1])?];
        Ok(Self { machine, runs })
    }
}

fn whole(machine: &Machine, (name, text, cells): (&str, &str, usize)) -> io::Result<Whole> {
    std::fs::write(machine.path(&format!("{name}.yaml")), text)?;
    let extent = kill::run(machine, name, None)?.extent;
    let directory = machine.run(name);
    machine.must(&["check", &directory.to_string_lossy()])?;
    let finished = Finished::read(&directory)?;
    std::fs::remove_dir_all(&directory)?;
    match finished.counts().len() == cells {
        true => Ok(Whole { extent, finished }),
        false => Err(io::Error::other(format!(
            "a run of '{name}' that nobody disturbed has not {cells} good cells: {}",
            std::fs::read_to_string(machine.path("said"))?
        ))),
    }
}

/// Every point, each with what is done after it: in turn, so that each kind of point meets each of them.
fn trials(runs: &[Whole; 2], arguments: &Arguments) -> Vec<(Point, After)> {
    let least = [arguments.least * 3 / 4, arguments.least / 4];
    let afters = [&[After::Resume, After::Clean, After::CleanWithoutRun][..], &[After::CleanByTags]];
    let of_run = |((whole, least), afters): ((&Whole, usize), &'static [After])| {
        let mut points = all(whole.extent, least, arguments.seed);
        if let Some(most) = arguments.most {
            points = thinned(points, most * least / arguments.least);
        }
        points.into_iter().zip(afters.iter().copied().cycle())
    };
    runs.iter().zip(least).zip(afters).flat_map(of_run).collect()
}

/// Makes trials on a machine as long as there are any.
fn on_a_machine(
    Ready { machine, runs }: &Ready,
    trials: &[(Point, After)],
    next: &AtomicUsize,
    tally: &Mutex<Tally>,
) -> io::Result<()> {
    let _decoys = Decoys::make(machine)?;
    let before = Scene::of(machine)?;
    while let Some(&(point, after)) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
        let whole = &runs[usize::from(after == After::CleanByTags)].finished;
        let found = trial(machine, (point, after), &before, whole)?;
        for (what, things) in
            [("leak", &found.leaks), ("loss", &found.losses), ("wrong touch", &found.touches)]
        {
            things.iter().for_each(|thing| println!("{what} after {point}, {after}: {thing}"));
        }
        if let Ok(mut tally) = tally.lock() {
            tally.add(point, after, &found);
        }
    }
    Ok(())
}
