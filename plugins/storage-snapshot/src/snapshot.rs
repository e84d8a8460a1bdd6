//! `snapshot`: LVM's snapshot of a logical volume that holds the image, with an exception store for what is written.

use crossvisor_plugin::model::{Name, NameError, Offer, OptionKind, OptionSpec, Volume, VolumeSource};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    CreateInput, CreateOutput, Failure, InspectInput, InspectOutput, Resume, StageInput, StageOutput, Turn,
    finish,
};
use crossvisor_storage_kit::lvm::{self, Group, Lv, LvReport};
use crossvisor_storage_kit::{copy, modes, printed, size};

/// Bytes that are copied at once when the guest writes; LVM's default.
const CHUNK: u64 = 4096;
/// Bytes that the exception store needs to remember where one chunk is.
const EXCEPTION: u64 = 16;
/// Bytes of the smallest exception store that can be asked for.
const LEAST_STORE: u64 = 1 << 20;

/// Bytes of an exception store in which every chunk of the origin has a place: a header, the chunks, and the list of
/// where they are.
fn whole_store(origin: u64) -> u64 {
    let chunks = origin.div_ceil(CHUNK);
    (1 + chunks + chunks.div_ceil(CHUNK / EXCEPTION)) * CHUNK
}

fn store(chosen: &Chosen, origin: u64) -> u64 {
    chosen.whole("store").unwrap_or(u64::MAX).min(whole_store(origin))
}

pub(crate) fn stage(chosen: &Chosen, input: &StageInput, resume: &Resume) -> Result<Turn, Failure> {
    let golden = Lv::ours(chosen, &input.name)?;
    if resume.results.is_empty() {
        return Ok(Turn { steps: vec![lvm::ask_groups()], ..Turn::default() });
    }
    let store = store(chosen, input.golden_bytes);
    let mut facts = std::collections::BTreeMap::new();
    if let Some(report) = printed(resume, 0) {
        let group = Group::find(report, &golden.group)?;
        let stores = group.extents(store).saturating_mul(input.guests.into());
        let who = format!(
            "the image and {} of {} need",
            stores_of(input.guests),
            size::text(group.extents(store).saturating_mul(group.extent))
        );
        group.check_room(group.extents(input.golden_bytes).saturating_add(stores), &who)?;
        facts = group.facts();
        facts.insert("exception store".into(), size::text(store));
    }
    let steps =
        vec![golden.create_thick(input.golden_bytes), copy::to_device(&input.golden, &golden.device())];
    finish(steps, StageOutput { golden: Some(golden.device()), facts })
}

fn stores_of(guests: u32) -> String {
    if guests == 1 { "an exception store".into() } else { format!("{guests} exception stores") }
}

pub(crate) fn create(chosen: &Chosen, input: &CreateInput) -> Result<Turn, Failure> {
    let snapshot = Lv::ours(chosen, &input.name)?;
    let (cache, io) = modes::modes(chosen)?;
    let (chunk, store) = (format!("{CHUNK}b"), format!("{}b", store(chosen, input.golden_bytes)));
    let golden = input.golden.to_string_lossy();
    let how = ["--snapshot", "--chunksize", &chunk, "--size", &store, &golden];
    let step = snapshot.create("make the snapshot", &how);
    let volume = Volume {
        cache: Some(cache),
        io: Some(io),
        ..Volume::new(VolumeSource::Block(snapshot.device()), "raw")
    };
    finish(vec![step], CreateOutput { volume })
}

pub(crate) fn inspect(input: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
    let (VolumeSource::File(device) | VolumeSource::Block(device)) = &input.volume.source;
    if resume.results.is_empty() {
        return Ok(Turn { steps: vec![lvm::ask_device(device)], ..Turn::default() });
    }
    let Some(report) = printed(resume, 0) else { return finish(Vec::new(), InspectOutput::of(None)) };
    let Some(snapshot) = LvReport::read(report)? else {
        return Err(Failure::new(format!(
            "the snapshot {} is gone: somebody else removed it",
            device.display()
        )));
    };
    finish(Vec::new(), InspectOutput { allocated_bytes: snapshot.used(), spoiled: spoiled(&snapshot) })
}

/// Why what a guest wrote to this snapshot is lost, or soon will be.
fn spoiled(snapshot: &LvReport) -> Option<String> {
    let store = size::text(snapshot.size);
    let can_overflow = snapshot.origin_size.is_none_or(|origin| snapshot.size < whole_store(origin));
    if matches!(snapshot.letter(4), 'I' | 'S') {
        return Some(format!(
            "the snapshot's exception store of {store} has overflowed: set a larger 'store'"
        ));
    }
    let full = can_overflow && snapshot.data_percent.is_some_and(|percent| percent >= 100.0);
    full.then(|| format!("the snapshot's exception store of {store} is full: set a larger 'store'"))
}

pub(crate) fn offer() -> Result<Offer, NameError> {
    let store = OptionSpec::new(
        "store",
        OptionKind::Size { min: LEAST_STORE, max: 1 << 50 },
        None,
        "size of each exception store; unset: so large that it cannot overflow",
    );
    Ok(Offer {
        options: [lvm::option(), store].into_iter().chain(modes::options()).collect(),
        host_programs: ["vgs", "lvs", "lvcreate", "lvremove", "dd"].map(String::from).into(),
        stages: true,
        watched: true,
        ..Offer::new(Name::new("snapshot")?, "LVM's snapshot of a logical volume with the guest's image")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_store_has_a_place_for_every_chunk() {
        assert_eq!(whole_store(1), 3 * CHUNK);
        assert_eq!(whole_store(256 * CHUNK), 258 * CHUNK);
        assert_eq!(whole_store(256 * CHUNK + 1), 260 * CHUNK);
        assert_eq!(whole_store(2 << 30), (1 + 524_288 + 2048) * CHUNK);
    }
}
