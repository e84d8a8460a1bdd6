//! [`Scenario`] to [`Plan`]: what was asked for, held against what is there.
//!
//! Owns the order of the checks and the baseline. It must never let a plan out that has a problem.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crossvisor_model::{Axes, Baseline, Bytes, Catalog, Cell, GuestRequest, Kind, Name, Plan, Use};

use crate::cells::{self, on_axis};
use crate::fit;
use crate::ground::{self, Ground};
use crate::order;
use crate::problem::Problem;
use crate::reader::Reader;
use crate::scenario::{Point, Scenario};
use crate::source::Spanned;
use crate::uses::Lookup;

/// Expands a scenario into the cells and the order of a run. `here` is the memory of this machine; hosts that are
/// reached elsewhere, or everything where it is not known, are not held against a memory.
///
/// # Errors
/// Every [`Problem`] of meaning, in the order of their places: names that nothing offers, options that an offer
/// does not take, hosts that cannot be, hypervisors without a host, excludes and includes that do nothing, guests
/// that do not fit, a baseline outside the matrix.
pub fn plan(scenario: &Scenario, catalog: &Catalog, here: Option<Bytes>) -> Result<Plan, Vec<Problem>> {
    let mut reader = Reader::new(&scenario.source);
    let plan = build(&mut reader, scenario, catalog, here);
    reader.finish(plan)
}

fn build(reader: &mut Reader, scenario: &Scenario, catalog: &Catalog, here: Option<Bytes>) -> Option<Plan> {
    fit::guest(reader, scenario, catalog);
    ground::known(reader, scenario, catalog);
    let matrix = &scenario.matrix;
    let (axes, include) = (&matrix.axes, &matrix.include);
    let lookup = |kind, definitions| Lookup { kind, catalog, definitions };
    let hypervisors = lookup(Kind::Hypervisor, &scenario.hypervisors)
        .uses(reader, axes.hypervisor.iter().chain(include.iter().filter_map(|i| i.hypervisor.as_ref())));
    let storages = lookup(Kind::Storage, &scenario.storages)
        .uses(reader, axes.storage.iter().chain(include.iter().filter_map(|i| i.storage.as_ref())));
    let workloads = lookup(Kind::Workload, &scenario.workloads)
        .uses(reader, axes.workload.iter().chain(include.iter().filter_map(|i| i.workload.as_ref())));
    let most = scenario.repeat.adaptive.map_or(scenario.repeat.least, |adaptive| adaptive.max);
    let telemetry = telemetry(reader, scenario, catalog);
    let ground = Ground::new(scenario, catalog, &hypervisors);
    let cells = cells::expand(reader, scenario, &ground)?;
    ground.bridges(reader, scenario, &cells);
    let capacities = ground::capacities(reader, scenario, catalog, here);
    fit::memory(reader, scenario, &cells, &capacities);
    let compared = scenario.baseline.as_ref().filter(|_| !cells.is_empty());
    let baseline = compared.map(|point| baseline(reader, point, &cells));
    Some(Plan {
        scenario: scenario.name.clone(),
        description: scenario.description.clone(),
        seed: scenario.seed,
        repeat: scenario.repeat.least,
        adaptive: scenario.repeat.adaptive,
        hosts: scenario.hosts.iter().map(|(name, host)| (name.clone(), host.spec.clone())).collect(),
        guest: GuestRequest {
            image: scenario.guest.image.value.clone(),
            memory: scenario.guest.memory.value,
            vcpus: scenario.guest.vcpus,
        },
        hypervisors,
        storages,
        workloads,
        order: order::visits(&cells, scenario.seed, most),
        cells,
        threshold: scenario.threshold.filter(|_| baseline.is_some()),
        baseline: baseline.unwrap_or_default(),
        deadlines: scenario.deadlines.clone(),
        measuring: scenario.measuring.clone(),
        telemetry,
    })
}

/// The telemetry that is wanted, or all that is offered: what does not fit a host has nothing to tell there.
fn telemetry(reader: &mut Reader, scenario: &Scenario, catalog: &Catalog) -> BTreeMap<Name, Use> {
    let offered = || catalog.offers(Kind::Telemetry).map(|(_, offer)| offer.name.clone());
    let wanted = scenario.telemetry.clone().unwrap_or_else(|| {
        let span = scenario.matrix.span;
        offered().map(|value| Spanned { value, span }).collect()
    });
    let definitions = BTreeMap::new();
    Lookup { kind: Kind::Telemetry, catalog, definitions: &definitions }.uses(reader, wanted.iter())
}

fn baseline(reader: &mut Reader, point: &Point, cells: &[Cell]) -> Baseline {
    let hosts = values(cells, |axes| Some(&axes.host));
    let hypervisors = values(cells, |axes| Some(&axes.hypervisor));
    let storages = values(cells, |axes| axes.storage.as_ref());
    let guests = values(cells, |axes| Some(&axes.guests));
    let there = [
        on_axis(reader, "host", &point.host, &hosts),
        on_axis(reader, "hypervisor", &point.hypervisor, &hypervisors),
        on_axis(reader, "storage", &point.storage, &storages),
        on_axis(reader, "guests", &point.guests, &guests),
    ];
    let baseline = Baseline {
        host: point.host.as_ref().map(|host| host.value.clone()),
        hypervisor: point.hypervisor.as_ref().map(|hypervisor| hypervisor.value.clone()),
        storage: point.storage.as_ref().map(|storage| storage.value.clone()),
        guests: point.guests.as_ref().map(|guests| guests.value),
    };
    let all: HashSet<&Axes> = cells.iter().map(|cell| &cell.axes).collect();
    if there == [true; 4] && !cells.iter().any(|cell| all.contains(&baseline.of(&cell.axes))) {
        let help = "its values are in the matrix, but never together in one cell";
        reader.problem(point.span, "no cell finds this baseline in the matrix", help);
    }
    baseline
}

/// The different values that the cells have on one axis, sorted.
fn values<'a, T: Ord + Clone + 'a>(cells: &'a [Cell], axis: impl Fn(&'a Axes) -> Option<&'a T>) -> Vec<T> {
    let values: BTreeSet<&T> = cells.iter().filter_map(|cell| axis(&cell.axes)).collect();
    values.into_iter().cloned().collect()
}
