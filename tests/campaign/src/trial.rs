//! One trial: a run is killed, the program is told to go on or to clean up, and then the machine is looked at.

use std::fmt;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use crate::samples::Finished;
use crate::{Machine, Point, Scene, kill};

/// What a dead program has started may take so long to end by itself.
const SETTLED: Duration = Duration::from_secs(10);

/// What is done after the kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum After {
    /// `crossvisor resume`; where there is no run yet to go on with, `crossvisor clean`.
    Resume,
    Clean,
    /// `crossvisor clean` when the run directory is gone.
    CleanWithoutRun,
    /// `crossvisor clean` when run directory and work folder are gone: by the tags of domains alone.
    CleanByTags,
}

impl After {
    /// The scenario whose run is killed: volumes that are files alone go with the work folder.
    #[must_use]
    pub fn scenario(self) -> &'static str {
        if self == Self::CleanByTags { "files" } else { "all" }
    }
}

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Resume => "resume",
            Self::Clean => "clean",
            Self::CleanWithoutRun => "clean, no run directory",
            Self::CleanByTags => "clean, tags alone",
        })
    }
}

/// What a trial found, each in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The run had not ended by itself before its point came.
    pub killed: bool,
    pub leaks: Vec<String>,
    pub losses: Vec<String>,
    pub touches: Vec<String>,
}

/// Kills a run at a point and does what is to be done after it. `before` is the machine without the run, `whole` what a
/// whole run of the scenario finishes.
///
/// # Errors
/// When the trial itself cannot be made.
pub fn trial(
    machine: &Machine,
    (point, after): (Point, After),
    before: &Scene,
    whole: &Finished,
) -> io::Result<Found> {
    let scenario = after.scenario();
    let directory = machine.run(scenario);
    let killed = kill::run(machine, scenario, Some(point))?;
    let finished = Finished::read(&directory)?;
    let mut found = Found { killed: killed.by_us, ..Found::default() };
    match after {
        After::Resume if directory.join("run.json").is_file() => {
            told(machine, &["resume", &directory.to_string_lossy()], &mut found.losses)?;
            told(machine, &["check", &directory.to_string_lossy()], &mut found.losses)?;
        }
        After::Resume | After::Clean => {}
        After::CleanWithoutRun => remove(&directory)?,
        After::CleanByTags => {
            remove(&directory)?;
            remove(&machine.work(scenario))?;
        }
    }
    let resumed = after == After::Resume && directory.join("run.json").is_file();
    if !resumed {
        told(machine, &["clean"], &mut found.leaks)?;
    }
    if matches!(after, After::Resume | After::Clean) {
        let later = Finished::read(&directory)?;
        found.losses.extend(finished.lost_in(&later));
        if resumed && later.counts() != whole.counts() {
            found.losses.push(format!("cells: {:?} instead of {:?}", later.counts(), whole.counts()));
        }
    }
    remove(&directory)?;
    let now = settled(machine, before)?;
    found.leaks.extend(now.added_to(before));
    found.touches = now.touched_since(before);
    Ok(found)
}

/// Runs the program, and notes when it ends otherwise than well.
fn told(machine: &Machine, arguments: &[&str], wrong: &mut Vec<String>) -> io::Result<()> {
    let output = machine.program(arguments).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        wrong.push(format!("{} ended with {}: {printed}{said}", arguments.join(" "), output.status));
    }
    Ok(())
}

fn remove(folder: &std::path::Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// The machine once nothing more is too much on it, or the time is up.
fn settled(machine: &Machine, before: &Scene) -> io::Result<Scene> {
    let deadline = Instant::now() + SETTLED;
    loop {
        let now = Scene::of(machine)?;
        if now.added_to(before).is_empty() || Instant::now() > deadline {
            return Ok(now);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
