//! Backing `loop`: a volume is a loop device of the host, over a file that is copied whole from the guest's image.
//!
//! Owns how the device is attached and detached. It must never touch one itself.

use std::path::{Path, PathBuf};

use crossvisor_plugin::model::{
    Action, Exec, Kind, Manifest, Name, NameError, Offer, OptionKind, OptionSpec, Place, Step, Volume,
    VolumeSource,
};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    CreateInput, CreateOutput, Failure, InspectInput, InspectOutput, Left, Resume, StageInput, StageOutput,
    Storage, Turn, finish,
};
use crossvisor_storage_kit::{copy, folder, modes, printed, program, size};

/// The plugin.
pub struct Loop;

crossvisor_plugin::plugin!(storage_loop, storage, Loop);

const TIMEOUT_S: f64 = 60.0;

/// Detaches every device of the file `$1`; there may be none. losetup has no option for that.
const DETACH: &str =
    "losetup --noheadings --output NAME --associated \"$1\" | xargs --no-run-if-empty losetup --detach";

impl Storage for Loop {
    fn manifest(&self) -> Manifest {
        manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn stage(&self, _: &Chosen, input: &StageInput, resume: &Resume) -> Result<Turn, Failure> {
        if resume.results.is_empty() {
            let steps = vec![folder::ask_room(&input.folder), ask_devices(), ask_used()];
            return Ok(Turn { steps, ..Turn::default() });
        }
        let mut facts = folder::check_room(printed(resume, 0), input)?;
        if let Some(devices) = printed(resume, 1) {
            let used = printed(resume, 2).unwrap_or_default();
            facts.insert("loop devices".into(), check_devices(devices, used, input.guests)?);
        }
        finish(Vec::new(), StageOutput { golden: None, facts })
    }

    fn create(&self, chosen: &Chosen, input: &CreateInput, resume: &Resume) -> Result<Turn, Failure> {
        let (cache, io) = modes::modes(chosen)?;
        if resume.results.is_empty() {
            let file = file(&input.folder, &input.name);
            let copy = copy::to_file(&input.golden, &file)
                .undone_by(Action::RemoveFile { on: Place::Host, path: file.clone() });
            return Ok(Turn {
                steps: vec![copy, attach(&file, chosen.is_on("direct_io"))],
                ..Turn::default()
            });
        }
        // In a plan the number is not known.
        let device = printed(resume, 1).map_or("/dev/loopN", str::trim);
        if !device.starts_with("/dev/loop") {
            let message = format!("losetup names no loop device: {device:?}");
            return Err(Failure { message, left: Left::Known });
        }
        let volume = Volume {
            cache: Some(cache),
            io: Some(io),
            ..Volume::new(VolumeSource::Block(device.into()), "raw")
        };
        finish(Vec::new(), CreateOutput { volume })
    }

    fn inspect(&self, _: &Chosen, input: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
        let (VolumeSource::File(device) | VolumeSource::Block(device)) = &input.volume.source;
        if resume.results.is_empty() {
            return Ok(Turn { steps: vec![ask_file(device)], ..Turn::default() });
        }
        let text = printed(resume, 0).map(str::trim_end);
        let is_path = |text: &&str| text.starts_with('/') && !text.contains(char::is_control);
        match text.filter(|_| resume.state.is_null()).filter(is_path) {
            Some(file) => {
                let steps = vec![folder::ask_blocks(Path::new(file))];
                Ok(Turn { steps, state: file.into(), ..Turn::default() })
            }
            None => finish(Vec::new(), InspectOutput::of(text.and_then(folder::allocated))),
        }
    }
}

fn file(folder: &Path, name: &Name) -> PathBuf {
    folder.join(format!("{name}.img"))
}

fn attach(file: &Path, direct_io: bool) -> Step {
    let path = file.to_string_lossy();
    let direct_io = if direct_io { "--direct-io=on" } else { "--direct-io=off" };
    let detach = Exec::new(Place::Host, ["sh", "-c", DETACH, "sh", &path], TIMEOUT_S);
    program("attach a loop device", ["losetup", "--find", "--show", direct_io, "--", &path], TIMEOUT_S)
        .undone_by(Action::Exec(detach))
}

fn ask_devices() -> Step {
    program("read the loop devices", ["find", "/dev", "-maxdepth", "1", "-name", "loop*"], TIMEOUT_S)
}

fn ask_used() -> Step {
    program(
        "read the loop devices in use",
        ["losetup", "--list", "--noheadings", "--output", "NAME"],
        TIMEOUT_S,
    )
}

fn ask_file(device: &Path) -> Step {
    let device = device.to_string_lossy();
    let argv = ["losetup", "--list", "--noheadings", "--output", "BACK-FILE", "--", &device];
    program("read the loop device's file", argv, TIMEOUT_S)
}

/// What a person should know of the host's loop devices, where there are enough of them: the kernel makes new ones
/// through `/dev/loop-control`, whatever `max_loop` is.
fn check_devices(devices: &str, used: &str, guests: u32) -> Result<String, Failure> {
    let there =
        devices.lines().filter(|path| path.trim_start_matches("/dev/loop").parse::<u32>().is_ok()).count();
    let used = used.lines().count();
    if devices.lines().any(|path| path == "/dev/loop-control") {
        return Ok(format!("{there}, {used} in use, more on demand"));
    }
    if there.saturating_sub(used) < guests as usize {
        return Err(Failure::new(format!(
            "host has {there} loop devices, {used} of them in use, and cannot make more without /dev/loop-control; {} \
             need one each: 'modprobe loop' makes it, 'losetup --detach' frees a device",
            size::guests(guests)
        )));
    }
    Ok(format!("{there}, {used} in use"))
}

fn manifest() -> Result<Manifest, NameError> {
    let direct_io = OptionSpec::new(
        "direct_io",
        OptionKind::Boolean,
        Some(false.into()),
        "the device reads and writes its file past the host's page cache",
    );
    let programs = ["cp", "df", "find", "losetup", "sh", "stat", "xargs"];
    let offer = Offer {
        options: std::iter::once(direct_io).chain(modes::options()).collect(),
        host_programs: programs.map(String::from).into(),
        stages: true,
        ..Offer::new(Name::new("loop")?, "a loop device over a file, copied whole from the guest's image")
    };
    Ok(Manifest {
        name: Name::new("storage-loop")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Storage,
        summary: "volumes that are loop devices".into(),
        offers: vec![offer],
    })
}
