//! Backing `file`: a volume is a file of its own, raw or qcow2, copied whole from the guest's image.
//!
//! Owns the choice of copy program and of cache and aio mode. It must never touch a file itself.

use crossvisor_plugin::model::{
    Action, Exec, Kind, Manifest, Name, NameError, Offer, OptionKind, OptionSpec, Place, Step, StepResult,
    Volume, VolumeSource,
};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    CreateInput, CreateOutput, Failure, InspectInput, InspectOutput, Resume, Storage, Turn, finish,
};
use serde_json::{Value, json};

/// The plugin.
pub struct File;

crossvisor_plugin::plugin!(storage_file, storage, File);

const COPY_TIMEOUT_S: f64 = 600.0;
const STAT_TIMEOUT_S: f64 = 30.0;

impl Storage for File {
    fn manifest(&self) -> Manifest {
        manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn create(&self, chosen: &Chosen, input: &CreateInput, _: &Resume) -> Result<Turn, Failure> {
        let format = chosen.word("format").unwrap_or("raw").to_string();
        let (cache, io) = modes(chosen)?;
        let path = input.folder.join(format!("{}.{format}", input.name));
        let argv = copy(&format, &input.golden.to_string_lossy(), &path.to_string_lossy());
        let step = Step::new("copy the image", Action::Exec(Exec::new(Place::Host, argv, COPY_TIMEOUT_S)))
            .undone_by(Action::RemoveFile { on: Place::Host, path: path.clone() });
        let volume = Volume {
            source: VolumeSource::File(path),
            format,
            cache: Some(cache),
            io: Some(io),
            backend: None,
        };
        finish(vec![step], CreateOutput { volume })
    }

    fn inspect(&self, _: &Chosen, input: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
        let (VolumeSource::File(path) | VolumeSource::Block(path)) = &input.volume.source;
        match resume.results.first() {
            None => {
                let argv = ["stat", "--format=%b %B", "--", &path.to_string_lossy()];
                let stat = Action::Exec(Exec::new(Place::Host, argv, STAT_TIMEOUT_S));
                Ok(Turn { steps: vec![Step::new("read the volume's size", stat)], ..Turn::default() })
            }
            Some(StepResult::Exec(stat)) => finish(Vec::new(), InspectOutput::of(allocated(&stat.stdout))),
            Some(_) => finish(Vec::new(), InspectOutput::of(None)),
        }
    }
}

/// Bytes from stat's number of blocks and their size.
fn allocated(stat: &str) -> Option<u64> {
    let (blocks, size) = stat.trim().split_once(' ')?;
    blocks.parse::<u64>().ok()?.checked_mul(size.parse().ok()?)
}

/// A copy that keeps the holes of the image and shares its extents where the file system can.
fn copy(format: &str, golden: &str, path: &str) -> Vec<String> {
    let argv: &[&str] = match format {
        "raw" => &["cp", "--reflink=auto", "--sparse=auto", "--", golden, path],
        _ => &["qemu-img", "convert", "-f", "raw", "-O", format, golden, path],
    };
    argv.iter().map(ToString::to_string).collect()
}

/// Cache and aio mode: Linux native aio goes with the modes that open the file with `O_DIRECT`, and only with those.
fn modes(chosen: &Chosen) -> Result<(String, String), Failure> {
    let cache = chosen.word("cache").unwrap_or("none");
    let direct = matches!(cache, "none" | "directsync");
    let io = chosen.word("io").unwrap_or(if direct { "native" } else { "threads" });
    if io == "native" && !direct {
        return Err(Failure::new(format!(
            "io: native needs cache: none or directsync, not {cache}; choose one of these, or io: threads"
        )));
    }
    Ok((cache.into(), io.into()))
}

fn manifest() -> Result<Manifest, NameError> {
    let choice = |of: &[&str]| OptionKind::Choice { of: of.iter().map(ToString::to_string).collect() };
    let option = |name: &str, kind, default: Option<Value>, help: &str| OptionSpec {
        name: name.into(),
        kind,
        default,
        help: help.into(),
    };
    let file = Offer {
        options: vec![
            option("format", choice(&["raw", "qcow2"]), Some(json!("raw")), "format of the file"),
            option(
                "cache",
                choice(&["none", "writeback", "writethrough", "directsync", "unsafe"]),
                Some(json!("none")),
                "host page cache mode of the disk",
            ),
            option(
                "io",
                choice(&["native", "threads", "io_uring"]),
                None,
                "asynchronous I/O mode; unset: native where the cache mode allows it, else threads",
            ),
        ],
        host_programs: vec!["cp".into(), "stat".into()],
        ..Offer::new(Name::new("file")?, "a file of its own, copied whole from the guest's image")
    };
    Ok(Manifest {
        name: Name::new("storage-file")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Storage,
        summary: "volumes that are files".into(),
        offers: vec![file],
    })
}
