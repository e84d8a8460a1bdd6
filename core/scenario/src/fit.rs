//! Whether guests fit: into their image's needs and into their host's memory.
//!
//! Owns the arithmetic of memory. It must never ask a host: capacities come in.

use std::collections::{BTreeMap, BTreeSet};

use crossvisor_model::{Bytes, Catalog, Cell, Name};

use crate::reader::Reader;
use crate::scenario::Scenario;
use crate::source::Span;
use crate::suggest;

/// What a domain takes of its host's memory beside the guest's own.
pub const GUEST_OVERHEAD: Bytes = Bytes(64 * Bytes::MIB);

/// The image must be known and boot with the memory asked for.
pub(crate) fn guest(reader: &mut Reader, scenario: &Scenario, catalog: &Catalog) {
    let guest = &scenario.guest;
    let Some(offer) = catalog.guests.get(&guest.image.value) else {
        let known: Vec<_> = catalog.guests.keys().map(Name::as_str).collect();
        let help = suggest::among(guest.image.value.as_str(), "the images are", &known);
        reader.problem(guest.image.span, format!("there is no guest image '{}'", guest.image.value), help);
        return;
    };
    if guest.memory.value < offer.min_memory {
        let message = format!("'{}' does not boot with {} of memory", guest.image.value, guest.memory.value);
        reader.problem(guest.memory.span, message, format!("give it at least {}", offer.min_memory));
    }
}

/// The guests of every cell must fit into what their host has for them, where that is known.
pub(crate) fn memory(
    reader: &mut Reader,
    scenario: &Scenario,
    cells: &[Cell],
    capacities: &BTreeMap<&Name, Bytes>,
) {
    let memory = scenario.guest.memory.value;
    let each = u128::from(memory.0) + u128::from(GUEST_OVERHEAD.0);
    let crowds: BTreeSet<_> = cells
        .iter()
        .filter(|cell| !cell.axes.is_bare())
        .map(|cell| (cell.axes.guests, &cell.axes.host))
        .collect();
    for (guests, host) in crowds {
        let Some(capacity) = capacities.get(host) else { continue };
        let needed = u128::from(guests) * each;
        if needed <= u128::from(capacity.0) {
            continue;
        }
        let mib = u128::from(Bytes::MIB);
        let need = if guests == 1 { "guest needs" } else { "guests need" };
        let message = format!(
            "{guests} {need} {} MiB of memory, host '{host}' has {} MiB for guests",
            needed.div_ceil(mib),
            capacity.mib()
        );
        let help = format!(
            "each takes {memory} and {GUEST_OVERHEAD} beside it; '{host}' has room for {}",
            u128::from(capacity.0) / each
        );
        reader.problem(guests_span(scenario, guests), message, help);
    }
}

/// Where this number of guests was asked for.
fn guests_span(scenario: &Scenario, guests: u32) -> Span {
    let matrix = &scenario.matrix;
    let included = matrix.include.iter().filter_map(|point| point.guests.as_ref());
    let mut asked = matrix.axes.guests.iter().chain(included);
    asked.find(|asked| asked.value == guests).map_or(matrix.span, |asked| asked.span)
}
