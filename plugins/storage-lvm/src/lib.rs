//! Backing `lvm`: a volume is a logical volume, with room of its own or in a thin pool.
//!
//! Owns how the two are made and what is checked before. It must never run a command of LVM itself.

use crossvisor_plugin::model::{
    Kind, Manifest, Name, NameError, Offer, OptionKind, OptionSpec, Volume, VolumeSource,
};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    CreateInput, CreateOutput, Failure, InspectInput, InspectOutput, Resume, StageInput, StageOutput,
    Storage, Turn, finish,
};
use crossvisor_storage_kit::lvm::{self, Group, Lv, LvReport};
use crossvisor_storage_kit::{copy, modes, printed, size};

/// The plugin.
pub struct Lvm;

crossvisor_plugin::plugin!(storage_lvm, storage, Lvm);

impl Storage for Lvm {
    fn manifest(&self) -> Manifest {
        manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn stage(&self, chosen: &Chosen, input: &StageInput, resume: &Resume) -> Result<Turn, Failure> {
        let name = lvm::chosen_group(chosen)?;
        let pool = Lv::chosen(chosen, "thin")?;
        if resume.results.is_empty() {
            let steps = std::iter::once(lvm::ask_groups()).chain(pool.as_ref().map(Lv::ask)).collect();
            return Ok(Turn { steps, ..Turn::default() });
        }
        let group = printed(resume, 0).map(|report| Group::find(report, name)).transpose()?;
        let mut output = StageOutput::default();
        if let Some(group) = &group {
            output.facts = group.facts();
        }
        let Some(pool) = pool else {
            if let Some(group) = group {
                let extents = group.extents(input.golden_bytes).saturating_mul(input.guests.into());
                group.check_room(extents, &needing(input.guests))?;
            }
            return finish(Vec::new(), output);
        };
        if let Some(report) = printed(resume, 1) {
            let free = pool_room(&pool, report, input)?;
            output.facts.insert("thin pool".into(), pool.name.clone());
            output.facts.insert("thin pool free".into(), size::text(free));
        }
        let golden = Lv::ours(chosen, &input.name)?;
        let bytes = format!("{}b", input.golden_bytes);
        let how = ["--virtualsize", &bytes, "--thinpool", &pool.path()];
        let make = golden.create("make the thin volume of the image", &how);
        output.golden = Some(golden.device());
        finish(vec![make, copy::to_empty_device(&input.golden, &golden.device())], output)
    }

    fn create(&self, chosen: &Chosen, input: &CreateInput, _: &Resume) -> Result<Turn, Failure> {
        let volume = Lv::ours(chosen, &input.name)?;
        let (cache, io) = modes::modes(chosen)?;
        let steps = match chosen.word("thin") {
            Some(_) => {
                let golden = input.golden.to_string_lossy();
                let how = ["--snapshot", "--setactivationskip", "n", "--activate", "y", &golden];
                vec![volume.create("make the thin snapshot", &how)]
            }
            None => {
                let fill = copy::to_device(&input.golden, &volume.device());
                vec![volume.create_thick(input.golden_bytes), fill]
            }
        };
        let volume = Volume {
            cache: Some(cache),
            io: Some(io),
            ..Volume::new(VolumeSource::Block(volume.device()), "raw")
        };
        finish(steps, CreateOutput { volume })
    }

    fn inspect(&self, chosen: &Chosen, input: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
        let (VolumeSource::File(device) | VolumeSource::Block(device)) = &input.volume.source;
        let pool = Lv::chosen(chosen, "thin")?;
        if resume.results.is_empty() {
            let steps = std::iter::once(lvm::ask_device(device)).chain(pool.as_ref().map(Lv::ask)).collect();
            return Ok(Turn { steps, ..Turn::default() });
        }
        let volume = printed(resume, 0).map(one).transpose()?;
        let pool = printed(resume, 1).map(one).transpose()?;
        finish(
            Vec::new(),
            InspectOutput {
                allocated_bytes: volume.and_then(|lv| if is_thin(&lv) { lv.used() } else { Some(lv.size) }),
                spoiled: pool.and_then(|pool| spoiled(&pool)),
            },
        )
    }
}

fn needing(guests: u32) -> String {
    format!("{} need{}", size::guests(guests), if guests == 1 { "s" } else { "" })
}

/// The only volume of a report.
fn one(report: &str) -> Result<LvReport, Failure> {
    LvReport::read(report)?
        .ok_or_else(|| Failure::new("the logical volume is gone: somebody else removed it, or its pool"))
}

fn is_thin(volume: &LvReport) -> bool {
    volume.letter(0) == 'V'
}

/// Bytes that are free in the pool, where they are enough for the image and for every guest to fill its disk.
fn pool_room(pool: &Lv, report: &str, input: &StageInput) -> Result<u64, Failure> {
    let found = LvReport::read(report)?.filter(|found| found.letter(0) == 't');
    let Some(found) = found else {
        return Err(Failure::new(format!(
            "volume group {} has no thin pool '{}': 'lvs {}' lists what it has, and lvcreate --type thin-pool makes one",
            pool.group, pool.name, pool.group
        )));
    };
    let free = found.size - found.used().unwrap_or_default();
    let needed = input.golden_bytes.saturating_mul(u64::from(input.guests) + 1);
    if free < needed {
        return Err(Failure::new(format!(
            "thin pool {} has {} free, the image and {} can fill {}: extend the pool, or take fewer guests or a smaller \
             image",
            pool.path(),
            size::text(free),
            size::guests(input.guests),
            size::text(needed),
        )));
    }
    Ok(free)
}

/// Why nothing that lives in this pool can be trusted.
fn spoiled(pool: &LvReport) -> Option<String> {
    let full = |percent: Option<f64>| percent.is_some_and(|percent| percent >= 100.0);
    match pool.letter(8) {
        'F' => Some("the thin pool has failed".into()),
        'D' => Some("the thin pool is out of space".into()),
        'M' => Some("the thin pool's metadata is read-only".into()),
        _ if full(pool.data_percent) => Some("the thin pool is full".into()),
        _ if full(pool.metadata_percent) => Some("the thin pool's metadata is full".into()),
        _ => None,
    }
}

fn manifest() -> Result<Manifest, NameError> {
    let thin = OptionSpec::new(
        "thin",
        OptionKind::Text,
        None,
        "thin pool of that volume group; unset: volumes with room of their own",
    );
    let lvm = Offer {
        options: [lvm::option(), thin].into_iter().chain(modes::options()).collect(),
        host_programs: ["vgs", "lvs", "lvcreate", "lvremove", "dd"].map(String::from).into(),
        stages: true,
        ..Offer::new(Name::new("lvm")?, "a logical volume of its own, copied whole from the guest's image")
    };
    Ok(Manifest {
        name: Name::new("storage-lvm")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Storage,
        summary: "volumes that are logical volumes".into(),
        offers: vec![lvm],
    })
}
