//! The cells of a matrix: the product of its axes, less what is excluded, plus what is included.
//!
//! Owns the expansion and the checks of `exclude` and `include`. It must never look at what an axis value means,
//! except that the bare host has no storage and that a hypervisor needs a host that can run it.

use std::collections::HashSet;
use std::fmt::Display;

use crossvisor_model::{Axes, Cell, CellId, Name};

use crate::ground::Ground;
use crate::reader::Reader;
use crate::scenario::{Matrix, Point, Scenario, Selection};
use crate::source::Spanned;
use crate::suggest;

/// More cells than anyone can run; fewer than fill a memory.
const MAX_CELLS: usize = 1_000_000;

/// All cells in the order of the axes; includes come last. `None` where the matrix is too large to expand.
pub(crate) fn expand(reader: &mut Reader, scenario: &Scenario, ground: &Ground) -> Option<Vec<Cell>> {
    let matrix = &scenario.matrix;
    let hosts = host_axis(reader, scenario);
    let size = count(&matrix.axes, hosts.len());
    if size > MAX_CELLS {
        let help = "run it as several scenarios with shorter axes";
        let message = format!("the matrix has {size} cells, more than {MAX_CELLS}");
        reader.problem(matrix.span, message, help);
        return None;
    }
    ground.check(reader, scenario, &hosts);
    let mut axes = product(&matrix.axes, &hosts, ground);
    exclude(reader, matrix, &hosts, &mut axes);
    let mut cells: Vec<Cell> = axes.into_iter().map(Cell::from).collect();
    include(reader, scenario, ground, &hosts, &mut cells);
    Some(cells)
}

/// The values of the host axis, all hosts if it is not written.
fn host_axis<'a>(reader: &mut Reader, scenario: &'a Scenario) -> Vec<&'a Name> {
    let axis = &scenario.matrix.axes.host;
    for host in axis {
        known_host(reader, scenario, host);
    }
    if axis.is_empty() { scenario.hosts.keys().collect() } else { axis.iter().map(|h| &h.value).collect() }
}

fn known_host(reader: &mut Reader, scenario: &Scenario, host: &Spanned<Name>) {
    if !scenario.hosts.contains_key(&host.value) && !reader.is_full() {
        let known: Vec<_> = scenario.hosts.keys().map(Name::as_str).collect();
        let help = suggest::among(host.value.as_str(), "the hosts are", &known);
        reader.problem(host.span, format!("there is no host '{}'", host.value), help);
    }
}

fn count(axes: &Selection, hosts: usize) -> usize {
    let bare = axes.hypervisor.iter().filter(|name| name.value.as_str() == Axes::BARE).count();
    let setups = (axes.hypervisor.len() - bare).saturating_mul(axes.storage.len()).saturating_add(bare);
    [hosts, axes.guests.len(), axes.workload.len()].into_iter().fold(setups, usize::saturating_mul)
}

/// A hypervisor is combined with the hosts that can run it.
fn product(axes: &Selection, hosts: &[&Name], ground: &Ground) -> Vec<Axes> {
    let mut all = Vec::with_capacity(count(axes, hosts.len()));
    let storages: Vec<_> = axes.storage.iter().map(|storage| Some(&storage.value)).collect();
    for host in hosts {
        for hypervisor in axes.hypervisor.iter().filter(|name| ground.fits(host, &name.value)) {
            let bare = hypervisor.value.as_str() == Axes::BARE;
            for storage in if bare { &[None][..] } else { &storages } {
                for guests in &axes.guests {
                    all.extend(axes.workload.iter().map(|workload| Axes {
                        host: (*host).clone(),
                        hypervisor: hypervisor.value.clone(),
                        storage: storage.cloned(),
                        guests: guests.value,
                        workload: workload.value.clone(),
                    }));
                }
            }
        }
    }
    all
}

/// Removes the excluded points; every exclude must remove some, and all together must leave some.
fn exclude(reader: &mut Reader, matrix: &Matrix, hosts: &[&Name], all: &mut Vec<Axes>) {
    let mut hits = vec![0_usize; matrix.exclude.len()];
    all.retain(|axes| {
        let mut keep = true;
        for (exclude, hits) in matrix.exclude.iter().zip(&mut hits) {
            if exclude.matches(axes) {
                *hits += 1;
                keep = false;
            }
        }
        keep
    });
    for (exclude, hits) in matrix.exclude.iter().zip(hits) {
        if outside(reader, matrix, hosts, exclude) && hits == 0 {
            let help = "its values never meet in one cell (the bare host has no storage, a hypervisor only the hosts \
                        that can run it): leave it out";
            reader.problem(exclude.span, "this exclude matches no cell", help);
        }
    }
    if all.is_empty() && !matrix.exclude.is_empty() {
        reader.problem(matrix.exclude_span, "exclude leaves no cell of the matrix", "exclude less");
    }
}

/// Reports the values of an exclude that are not on their axis; true if there are none.
fn outside(reader: &mut Reader, matrix: &Matrix, hosts: &[&Name], exclude: &Selection) -> bool {
    let axes = &matrix.axes;
    let names = |axis: &'_ [Spanned<Name>]| axis.iter().map(|v| v.value.clone()).collect::<Vec<_>>();
    let hosts: Vec<Name> = hosts.iter().map(|&host| host.clone()).collect();
    let guests: Vec<u32> = axes.guests.iter().map(|guests| guests.value).collect();
    [
        on_axis(reader, "host", &exclude.host, &hosts),
        on_axis(reader, "hypervisor", &exclude.hypervisor, &names(&axes.hypervisor)),
        on_axis(reader, "storage", &exclude.storage, &names(&axes.storage)),
        on_axis(reader, "guests", &exclude.guests, &guests),
        on_axis(reader, "workload", &exclude.workload, &names(&axes.workload)),
    ]
    .into_iter()
    .all(|good| good)
}

/// Reports the `values` that are not among those of the axis; true if there are none.
pub(crate) fn on_axis<'v, T: PartialEq + Display + 'v>(
    reader: &mut Reader,
    axis: &str,
    values: impl IntoIterator<Item = &'v Spanned<T>>,
    there: &[T],
) -> bool {
    let missing: Vec<_> = values.into_iter().filter(|value| !there.contains(&value.value)).collect();
    for value in &missing {
        if reader.is_full() {
            break;
        }
        let there: Vec<String> = there.iter().map(T::to_string).collect();
        let there: Vec<&str> = there.iter().map(String::as_str).collect();
        let help = suggest::among(&value.value.to_string(), &format!("{axis} has"), &there);
        reader.problem(value.span, format!("{axis} '{}' is not in the matrix", value.value), help);
    }
    missing.is_empty()
}

impl Selection {
    fn matches(&self, axes: &Axes) -> bool {
        fn one<T: PartialEq>(meant: &[Spanned<T>], value: &T) -> bool {
            meant.is_empty() || meant.iter().any(|meant| meant.value == *value)
        }
        let storage = match &axes.storage {
            Some(storage) => one(&self.storage, storage),
            None => self.storage.is_empty(),
        };
        storage
            && one(&self.guests, &axes.guests)
            && one(&self.hypervisor, &axes.hypervisor)
            && one(&self.workload, &axes.workload)
            && one(&self.host, &axes.host)
    }
}

fn include(
    reader: &mut Reader,
    scenario: &Scenario,
    ground: &Ground,
    hosts: &[&Name],
    cells: &mut Vec<Cell>,
) {
    if scenario.matrix.include.is_empty() {
        return;
    }
    let mut there: HashSet<CellId> = cells.iter().map(|cell| cell.id.clone()).collect();
    for point in &scenario.matrix.include {
        let Some(cell) = included(reader, scenario, ground, hosts, point).map(Cell::from) else { continue };
        if there.insert(cell.id.clone()) {
            cells.push(cell);
        } else {
            let message = format!("this include repeats the cell {}", cell.id);
            reader.problem(point.span, message, "leave it out");
        }
    }
}

/// The cell that an include means, if it is complete.
fn included(
    reader: &mut Reader,
    scenario: &Scenario,
    ground: &Ground,
    hosts: &[&Name],
    point: &Point,
) -> Option<Axes> {
    let host = match (&point.host, hosts) {
        (Some(host), _) => {
            known_host(reader, scenario, host);
            &host.value
        }
        (None, [only]) => only,
        (None, _) => {
            let help = "there is more than one host: say which, as 'host: …'";
            reader.problem(point.span, "include lacks the key 'host'", help);
            return None;
        }
    };
    let hypervisor = point.hypervisor.as_ref()?;
    if !ground.fits(host, &hypervisor.value) {
        ground.misfit(reader, hypervisor, &[host], &format!("host '{host}'"));
    }
    let storage = match (hypervisor.value.as_str() == Axes::BARE, &point.storage) {
        (true, Some(storage)) => {
            reader.problem(storage.span, "the bare host takes no storage", "leave 'storage' out");
            return None;
        }
        (false, None) => {
            reader.problem(point.span, "include lacks the key 'storage'", "guests need a disk: add it");
            return None;
        }
        (_, storage) => storage.as_ref().map(|storage| storage.value.clone()),
    };
    Some(Axes {
        host: host.clone(),
        hypervisor: hypervisor.value.clone(),
        storage,
        guests: point.guests.as_ref()?.value,
        workload: point.workload.as_ref()?.value.clone(),
    })
}
