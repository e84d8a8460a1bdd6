//! The circumstances of a run as pairs of texts.
//!
//! Owns the wording of provenance. It must never leave out what could make two runs incomparable.

use std::collections::{BTreeMap, BTreeSet};

use crossvisor_model::provenance::HostFacts;
use crossvisor_model::{
    Bytes, Caches, ImportFacts, ImportedFile, Load, Name, Options, Provenance, RunRecord, Seconds, Use,
    Warmup,
};
use serde::Serialize;

use crate::clean::one_line;

/// A group of facts.
#[derive(Serialize)]
pub struct Facts {
    pub title: String,
    pub pairs: Vec<(String, String)>,
}

/// Everything the record knows of where its numbers come from.
pub fn facts(record: &RunRecord) -> Vec<Facts> {
    let mut all = vec![run(record)];
    match &record.provenance.imported {
        Some(imported) => all.push(imported_facts(imported)),
        None => {
            all.extend(record.provenance.hosts.iter().map(|(name, host)| host_facts(record, name, host)));
            all.push(guest(record));
            all.push(measuring(record));
        }
    }
    all.push(choices(record));
    all.push(plugins(record));
    all.push(setups(record));
    all.retain(|facts| !facts.pairs.is_empty());
    all
}

/// What a workload was asked to do: `bonnie, size 64Mi`.
pub fn work(record: &RunRecord, workload: &Name) -> String {
    record.plan.workloads.get(workload).map_or(String::new(), usage)
}

fn usage(used: &Use) -> String {
    format!("{}{}", used.offer, options(&used.options))
}

fn options(options: &Options) -> String {
    options.iter().map(|(name, value)| one_line(&format!(", {name} {}", option(value)))).collect()
}

/// Durations are the options with a point: 2.0 is `2s`. Large round numbers, as sizes are, get a binary prefix:
/// 67108864 is `64Mi`.
fn option(value: &serde_json::Value) -> String {
    let seconds = value.as_f64().filter(|_| value.is_f64());
    match (value.as_str(), value.as_u64(), seconds) {
        (Some(text), ..) => text.to_string(),
        (_, Some(size), _) if size > 0 && size % Bytes::MIB == 0 => {
            Bytes(size).to_string().trim_end_matches('B').to_string()
        }
        (.., Some(seconds)) => Seconds(seconds).to_string(),
        _ => value.to_string(),
    }
}

/// Without control characters and without pairs that say nothing.
fn tidy(pairs: Vec<(String, String)>) -> Vec<(String, String)> {
    let clean = |(name, value): (String, String)| (one_line(&name), one_line(&value));
    pairs.into_iter().map(clean).filter(|(_, value)| !value.is_empty()).collect()
}

fn pair(name: &str, value: impl ToString) -> (String, String) {
    (name.to_string(), value.to_string())
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", crate::number::rounded((bytes / 1_048_576) as f64, 0))
}

fn run(record: &RunRecord) -> Facts {
    if record.provenance.imported.is_some() {
        let Provenance { started, crossvisor, .. } = &record.provenance;
        let pairs = vec![pair("imported", started), pair("crossvisor", crossvisor)];
        return Facts { title: "Run".to_string(), pairs: tidy(pairs) };
    }
    let pairs = vec![
        pair("started", &record.provenance.started),
        pair("crossvisor", &record.provenance.crossvisor),
        pair("seed of the order", record.plan.seed),
        pair("replicates", record.plan.repeat),
        pair("complete", if record.complete { "yes" } else { "no" }),
    ];
    Facts { title: "Run".to_string(), pairs: tidy(pairs) }
}

fn host_facts(record: &RunRecord, name: &Name, host: &HostFacts) -> Facts {
    let spec = record.plan.hosts.get(name).map(|spec| pair("as the scenario has it", spec));
    let spec = spec.filter(|(_, spec)| *spec != host.uri);
    let pairs = spec.into_iter().chain(host_pairs(host)).collect();
    Facts { title: format!("Host {name}"), pairs: tidy(pairs) }
}

fn host_pairs(host: &HostFacts) -> Vec<(String, String)> {
    let outer = host.outer_accel.map(|accel| accel.to_string()).unwrap_or_default();
    let mut pairs = vec![
        pair("own acceleration as a guest", outer),
        pair("libvirt URI", &host.uri),
        pair("processor", format!("{} × {}", host.cpus, host.cpu_model)),
        pair("memory", mib(host.memory_bytes)),
        pair("kernel", &host.kernel),
        pair("system", &host.os),
        pair("frequency governor", host.governor.as_deref().unwrap_or("not known")),
        pair("KVM", &host.kvm),
        pair("acceleration", host.accel.map_or("not known".to_string(), |accel| accel.to_string())),
    ];
    pairs.extend(host.versions.clone());
    for (by, found) in &host.staged {
        pairs.extend(found.iter().map(|(name, value)| pair(&format!("{by}: {name}"), value)));
    }
    pairs.extend(mitigations(host));
    pairs
}

/// The vulnerabilities in each state: `mds, meltdown: Not affected`.
fn mitigations(host: &HostFacts) -> impl Iterator<Item = (String, String)> {
    let mut states: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, state) in &host.mitigations {
        states.entry(state).or_default().push(name);
    }
    states.into_iter().map(|(state, names)| pair("vulnerabilities", format!("{}: {state}", names.join(", "))))
}

/// Where the results come from that were measured elsewhere. Of their hosts and guests nothing else is known.
fn imported_facts(imported: &ImportFacts) -> Facts {
    let file = |file: &ImportedFile| {
        let ImportedFile { name, bytes, sha256, results, refused, .. } = file;
        pair(
            "file",
            format!("{name}, {bytes} bytes, {results} results, {refused} parts refused, sha256 {sha256}"),
        )
    };
    let renamed = imported.machines.iter().filter(|(name, text)| name.as_str() != text.as_str());
    let machine =
        |(name, text): (&Name, &String)| pair(&format!("machine {name}"), format!("'{text}' in the files"));
    let tools = imported.tools.iter().flat_map(|(cell, tools)| {
        let version = move |(tool, versions): (&String, &BTreeSet<String>)| {
            let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
            pair(&format!("{tool} of {cell}"), versions.join(", "))
        };
        tools.iter().map(version)
    });
    let pairs = imported.files.iter().map(file).chain(renamed.map(machine)).chain(tools).collect();
    Facts { title: "Imported".to_string(), pairs: tidy(pairs) }
}

fn guest(record: &RunRecord) -> Facts {
    let guest = &record.provenance.guest;
    let mut pairs = vec![
        pair("image", &guest.image),
        pair("definition (sha256)", &guest.definition),
        pair("kernel", &guest.kernel),
        pair("memory", mib(guest.memory_bytes)),
        pair("virtual CPUs", guest.vcpus),
    ];
    pairs.extend(guest.versions.clone());
    Facts { title: "Guest".to_string(), pairs: tidy(pairs) }
}

fn choices(record: &RunRecord) -> Facts {
    let plan = &record.plan;
    let of = |kind: &'static str, uses: &BTreeMap<Name, Use>| -> Vec<(String, String)> {
        uses.iter().map(|(name, used)| pair(&format!("{kind} {name}"), usage(used))).collect()
    };
    let pairs =
        [of("hypervisor", &plan.hypervisors), of("storage", &plan.storages), of("workload", &plan.workloads)];
    Facts { title: "Scenario".to_string(), pairs: tidy(pairs.concat()) }
}

fn measuring(record: &RunRecord) -> Facts {
    let measuring = &record.plan.measuring;
    let load = match measuring.load {
        Load::Once => "each works once",
        Load::UntilAllFinish => "those that are done work again until all are; only the first time counts",
    };
    let warmup = match measuring.warmup {
        Warmup::Times(0) => "none".to_string(),
        Warmup::Times(times) => format!("the work {times} times, not counted"),
        Warmup::For(time) => format!("the work for {time}, not counted"),
    };
    let caches = match measuring.caches {
        Caches::Drop => "emptied before rounds of workloads that ask for it",
        Caches::Keep => "kept",
    };
    let volumes = measuring
        .prefill
        .map_or("as they were made: a write may be the first to its blocks".into(), |size| {
            format!("prefilled with {size}: a write finds its blocks")
        });
    let pairs = vec![
        pair("load", load),
        pair("warm-up", warmup),
        pair("page caches", caches),
        pair("volumes", volumes),
    ];
    Facts { title: "Measuring".to_string(), pairs: tidy(pairs) }
}

fn plugins(record: &RunRecord) -> Facts {
    let plugins = record.provenance.plugins.iter();
    let pairs =
        plugins.map(|(name, plugin)| pair(name.as_str(), format!("{}, {}", plugin.version, plugin.origin)));
    Facts { title: "Plugins".to_string(), pairs: tidy(pairs.collect()) }
}

/// One pair for each replicate of each cell.
fn setups(record: &RunRecord) -> Facts {
    let pairs = record.setups.iter().map(|setup| {
        let mut value = format!("accel {}, provisioned in {:.1} s", setup.accel, setup.provision_s);
        for (volume, bytes) in setup.volumes.iter().zip(&setup.allocated_bytes) {
            let [cache, io] = [&volume.cache, &volume.io].map(|mode| mode.as_deref().unwrap_or("default"));
            let bytes = bytes.map_or("unknown".to_string(), mib);
            value += &format!("; {} volume, cache {cache}, io {io}, allocated {bytes}", volume.format);
        }
        for (round, skew) in &setup.skew_s {
            value += &format!("; {round}: start skew {:.1} ms", skew * 1000.0);
        }
        for (round, drifts) in &setup.drift_s {
            let drifts: Vec<String> = drifts.iter().map(|drift| format!("{:.1}", drift * 1000.0)).collect();
            value += &format!("; {round}: guest clock drift {} ms", drifts.join(", "));
        }
        pair(&format!("{} replicate {}", setup.cell, setup.replicate), value)
    });
    Facts { title: "Setups".to_string(), pairs: tidy(pairs.collect()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::option;

    #[test]
    fn options_are_written_as_in_a_scenario_as_far_as_their_form_tells() {
        let values =
            [json!(2.0), json!(0.5), json!(100_663_296), json!(10_000), json!(-1), json!("raw"), json!(true)];
        let shown = values.each_ref().map(option);
        assert_eq!(shown, ["2s", "0.5s", "96Mi", "10000", "-1", "raw", "true"]);
    }
}
