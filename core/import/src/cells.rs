//! The cells that imported results make: one for each machine and each set of settings.
//!
//! Owns which result is which replicate of which cell. It must never put results of different settings together.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crossvisor_model::{
    Accel, Axes, Baseline, Bytes, Cell, CellId, Deadlines, GuestRequest, Measuring, MetricSpec, Name,
    NameError, Offer, Options, Plan, Use,
};
use crossvisor_plugin::Imported;
use crossvisor_store::Round;

use crate::names::Names;

/// What a person knows of the results that the files do not tell.
#[derive(Clone, Debug)]
pub struct Labels {
    /// `None`: the machine, as the file calls it.
    pub host: Option<Name>,
    pub hypervisor: Name,
    pub storage: Option<Name>,
    /// Guests at once. Where the host is named and these are several, each machine in the files is one of them.
    pub guests: u32,
}

/// Settings of results, as the files have them.
type Settings = BTreeMap<String, String>;
/// Versions by tool.
pub type Tools = BTreeMap<String, BTreeSet<String>>;

/// All cells so far.
#[derive(Debug)]
pub struct Cells {
    labels: Labels,
    offer: Use,
    machines: Names,
    guests: HashMap<String, u32>,
    /// Where results go, by machine and settings.
    spots: HashMap<Option<String>, HashMap<Settings, Spot>>,
    workloads: HashMap<Settings, Name>,
    /// Where a cell is in `cells`.
    places: HashMap<Axes, usize>,
    /// In the order they were come upon.
    cells: Vec<Members>,
}

#[derive(Clone, Copy, Debug)]
struct Spot {
    cell: usize,
    instance: u32,
}

#[derive(Debug)]
struct Members {
    cell: Cell,
    /// Results so far, by instance.
    replicates: BTreeMap<u32, u32>,
    tools: Tools,
}

impl Cells {
    /// For results of an offer of the plugin called `plugin`.
    #[must_use]
    pub fn new(labels: Labels, plugin: &Name, offer: &Offer) -> Self {
        Self {
            labels,
            offer: Use { plugin: plugin.clone(), offer: offer.name.clone(), options: Options::new() },
            machines: Names::default(),
            guests: HashMap::new(),
            spots: HashMap::new(),
            workloads: HashMap::new(),
            places: HashMap::new(),
            cells: Vec::new(),
        }
    }

    /// The place of a result in the run, and what a person should know about it.
    ///
    /// # Errors
    /// [`NameError`], which no result leads to.
    pub fn take(&mut self, result: Imported) -> Result<(Round, Vec<String>), NameError> {
        let Imported { machine, settings, values, warnings, versions, .. } = result;
        let known = self.spots.get(&machine).and_then(|by_settings| by_settings.get(&settings));
        let spot = match known {
            Some(spot) => *spot,
            None => self.spot(machine, settings)?,
        };
        let members = &mut self.cells[spot.cell];
        let replicate = members.replicates.entry(spot.instance).or_default();
        *replicate += 1;
        for (tool, version) in versions {
            members.tools.entry(tool).or_default().insert(version);
        }
        let cell = members.cell.id.clone();
        let (window, overlap, accel) = (None, None, Accel::Unknown);
        let round =
            Round { cell, replicate: *replicate, instance: spot.instance, window, overlap, accel, values };
        Ok((round, warnings))
    }

    fn spot(&mut self, machine: Option<String>, settings: Settings) -> Result<Spot, NameError> {
        let text = machine.as_deref().unwrap_or_default();
        let host = match &self.labels.host {
            Some(host) => host.clone(),
            None => self.machines.of(text)?,
        };
        let instance = if self.labels.host.is_some() && self.labels.guests > 1 {
            let next = u32::try_from(self.guests.len()).unwrap_or(u32::MAX).saturating_add(1);
            *self.guests.entry(text.into()).or_insert(next)
        } else {
            1
        };
        let axes = Axes {
            host,
            hypervisor: self.labels.hypervisor.clone(),
            storage: self.labels.storage.clone(),
            guests: self.labels.guests,
            workload: self.workload(&settings)?,
        };
        let next = self.cells.len();
        let cell = *self.places.entry(axes.clone()).or_insert(next);
        if cell == next {
            let (replicates, tools) = (BTreeMap::new(), Tools::new());
            self.cells.push(Members { cell: axes.into(), replicates, tools });
        }
        let spot = Spot { cell, instance };
        self.spots.entry(machine).or_default().insert(settings, spot);
        Ok(spot)
    }

    /// The workload of these settings, called as the offer or, from the second one on, with a number.
    fn workload(&mut self, settings: &Settings) -> Result<Name, NameError> {
        if let Some(name) = self.workloads.get(settings) {
            return Ok(name.clone());
        }
        let offer = &self.offer.offer;
        let name = match self.workloads.len() {
            0 => offer.clone(),
            before => Name::new(format!("{offer}-{}", before + 1))?,
        };
        self.workloads.insert(settings.clone(), name.clone());
        Ok(name)
    }

    /// The machines that are guests of the one host: how many, where it is more than there can be.
    #[must_use]
    pub fn too_many_guests(&self) -> Option<usize> {
        Some(self.guests.len()).filter(|&found| found > self.labels.guests as usize)
    }

    /// Everything that the results tell of what was done.
    #[must_use]
    pub fn end(self, kind: &Name, metrics: &[MetricSpec]) -> Ended {
        let replicates = self.cells.iter().flat_map(|members| members.replicates.values());
        let using = |settings: Settings| Use {
            options: settings.into_iter().map(|(name, value)| (name, value.into())).collect(),
            ..self.offer.clone()
        };
        let metrics = self.workloads.values().map(|name| (name.clone(), metrics.to_vec())).collect();
        let plan = Plan {
            scenario: kind.clone(),
            description: String::new(),
            seed: 0,
            repeat: replicates.copied().max().unwrap_or_default(),
            hosts: BTreeMap::new(),
            guest: GuestRequest { image: kind.clone(), memory: Bytes(0), vcpus: 0 },
            hypervisors: BTreeMap::new(),
            storages: BTreeMap::new(),
            workloads: self.workloads.into_iter().map(|(settings, name)| (name, using(settings))).collect(),
            cells: self.cells.iter().map(|members| members.cell.clone()).collect(),
            order: Vec::new(),
            adaptive: None,
            baseline: Baseline::default(),
            threshold: None,
            deadlines: Deadlines::default(),
            measuring: Measuring::default(),
            telemetry: BTreeMap::new(),
        };
        let tools = self.cells.into_iter().map(|members| (members.cell.id, members.tools));
        let tools = tools.filter(|(_, tools)| !tools.is_empty()).collect();
        Ended { plan, metrics, machines: self.machines.given(), tools }
    }
}

/// What all results together tell.
#[derive(Debug)]
pub struct Ended {
    pub plan: Plan,
    pub metrics: BTreeMap<Name, Vec<MetricSpec>>,
    /// As the files call them, by their names in the run.
    pub machines: BTreeMap<Name, String>,
    pub tools: BTreeMap<CellId, Tools>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).expect("name")
    }

    fn cells(host: Option<&str>, guests: u32) -> Cells {
        let labels =
            Labels { host: host.map(name), hypervisor: name("xen-pv"), storage: Some(name("lvm")), guests };
        Cells::new(labels, &name("workload-disk"), &Offer::new(name("disk"), "disks"))
    }

    fn placed(cells: &mut Cells, machine: &str, size: &str) -> String {
        let result = Imported {
            machine: Some(machine.into()),
            settings: [("size".into(), size.into())].into(),
            versions: [("tool".into(), "1.0".into())].into(),
            ..Imported::default()
        };
        let (round, _) = cells.take(result).expect("place");
        format!("{} {} {}", round.cell, round.replicate, round.instance)
    }

    #[test]
    fn a_machine_with_settings_is_a_cell_and_repeated_results_are_replicates() {
        let mut cells = cells(None, 1);
        assert_eq!(placed(&mut cells, "A", "1 GiB"), "a/xen-pv/lvm/1/disk 1 1");
        assert_eq!(placed(&mut cells, "A", "1 GiB"), "a/xen-pv/lvm/1/disk 2 1");
        assert_eq!(placed(&mut cells, "A", "2 GiB"), "a/xen-pv/lvm/1/disk-2 1 1");
        assert_eq!(placed(&mut cells, "B", "1 GiB"), "b/xen-pv/lvm/1/disk 1 1");
        let Ended { plan, metrics, machines, tools } = cells.end(&name("disk"), &[]);
        assert_eq!((plan.cells.len(), plan.repeat, metrics.len(), tools.len()), (3, 2, 2, 3));
        assert_eq!(plan.workloads["disk-2"].options["size"], "2 GiB");
        assert_eq!(machines[&name("a")], "A");
    }

    #[test]
    fn the_machines_of_a_named_host_are_its_guests() {
        let mut cells = cells(Some("rack"), 2);
        assert_eq!(placed(&mut cells, "vm1", "1 GiB"), "rack/xen-pv/lvm/2/disk 1 1");
        assert_eq!(placed(&mut cells, "vm2", "1 GiB"), "rack/xen-pv/lvm/2/disk 1 2");
        assert_eq!(placed(&mut cells, "vm1", "1 GiB"), "rack/xen-pv/lvm/2/disk 2 1");
        assert_eq!(cells.too_many_guests(), None);
        placed(&mut cells, "vm3", "1 GiB");
        assert_eq!(cells.too_many_guests(), Some(3));
    }

    #[test]
    fn the_machines_of_a_host_with_one_guest_are_replicates() {
        let mut cells = cells(Some("rack"), 1);
        placed(&mut cells, "x", "1 GiB");
        assert_eq!(placed(&mut cells, "y", "1 GiB"), "rack/xen-pv/lvm/1/disk 2 1");
    }
}
