//! Volumes that are files: the room that their folder has, and what they really take.

use std::collections::BTreeMap;
use std::path::Path;

use crossvisor_plugin::model::{Step, VolumeSource};
use crossvisor_plugin::{
    Failure, InspectInput, InspectOutput, Resume, StageInput, StageOutput, Turn, finish,
};

use crate::{printed, program, size};

const TIMEOUT_S: f64 = 30.0;

/// The operation `stage` of a backing that needs nothing but room in its folder.
///
/// # Errors
/// [`Failure`] as [`check_room`] has it.
pub fn stage(input: &StageInput, resume: &Resume) -> Result<Turn, Failure> {
    if resume.results.is_empty() {
        return Ok(Turn { steps: vec![ask_room(&input.folder)], ..Turn::default() });
    }
    finish(Vec::new(), StageOutput { golden: None, facts: check_room(printed(resume, 0), input)? })
}

/// Asks for the file system of a folder and its free bytes.
#[must_use]
pub fn ask_room(folder: &Path) -> Step {
    let argv = ["df", "--block-size=1", "--output=fstype,avail", "--", &folder.to_string_lossy()];
    program("read the free space of the run's folder", argv, TIMEOUT_S)
}

/// The facts that `df` told, where there is room for every guest to fill its disk. `None` is an output that a plan has
/// in its place.
///
/// # Errors
/// [`Failure`] where there is less room, or the output is not df's.
pub fn check_room(df: Option<&str>, input: &StageInput) -> Result<BTreeMap<String, String>, Failure> {
    let Some(df) = df else { return Ok(BTreeMap::new()) };
    let told = df.lines().nth(1).and_then(|line| line.trim().split_once(' '));
    let told = told.and_then(|(kind, free)| Some((kind, free.trim().parse::<u64>().ok()?)));
    let Some((kind, free)) = told else {
        return Err(Failure::new(format!(
            "cannot read the free space of {} from df: {df:?}",
            input.folder.display()
        )));
    };
    let needed = input.golden_bytes.saturating_mul(input.guests.into());
    if free < needed {
        return Err(Failure::new(format!(
            "{} has {} free, and {} with disks of {} can fill {}: free some of it, or take fewer guests",
            input.folder.display(),
            size::text(free),
            size::guests(input.guests),
            size::text(input.golden_bytes),
            size::text(needed),
        )));
    }
    Ok(BTreeMap::from([("file system".into(), kind.into()), ("free space".into(), size::text(free))]))
}

/// The operation `inspect` of a volume that is a file: its blocks, as `stat` counts them.
///
/// # Errors
/// [`Failure`] where the output has no JSON form.
pub fn inspect(input: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
    let (VolumeSource::File(path) | VolumeSource::Block(path)) = &input.volume.source;
    if resume.results.is_empty() {
        return Ok(Turn { steps: vec![ask_blocks(path)], ..Turn::default() });
    }
    finish(Vec::new(), InspectOutput::of(printed(resume, 0).and_then(allocated)))
}

/// Asks for the blocks of a file.
#[must_use]
pub fn ask_blocks(path: &Path) -> Step {
    program("read the volume's size", ["stat", "--format=%b %B", "--", &path.to_string_lossy()], TIMEOUT_S)
}

/// Bytes from stat's number of blocks and their size. `None` where the text is not that.
#[must_use]
pub fn allocated(stat: &str) -> Option<u64> {
    let (blocks, size) = stat.trim().split_once(' ')?;
    blocks.parse::<u64>().ok()?.checked_mul(size.parse().ok()?)
}
