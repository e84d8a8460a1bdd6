//! `crossvisor plan`: what a run would do.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use crossvisor_engine::{outline, Outline, Planned, PlannedStep, SetupOutline};
use crossvisor_model::{Adaptive, Axes, Bytes, Name, Plan, Step};
use crossvisor_scenario::GUEST_OVERHEAD;
use serde::Serialize;

use crate::action_text;
use crate::arguments;
use crate::exit::Failure;
use crate::inventory::Inventory;
use crate::output::{self, count, line, printable};
use crate::planned;

/// Visits that are shown of the order.
const SHOWN_VISITS: usize = 24;

/// All that `--json` shows.
#[derive(Serialize)]
struct Json<'a> {
    plan: &'a Plan,
    outline: &'a Outline,
}

/// # Errors
/// [`Failure`] when the scenario is wrong or a plugin cannot say what it would do.
pub fn execute(asked: &arguments::Plan, plugins: Vec<(Name, PathBuf)>) -> Result<(), Failure> {
    let inventory = Inventory::find(plugins)?;
    let plan = planned::read(&asked.scenario, &inventory)?.plan;
    if asked.cells {
        return output::show(|out| cells(&plan, "", out));
    }
    if !asked.json {
        return show(&plan, &inventory);
    }
    let outline = outline(&plan, &inventory.loaded.plugins, &inventory.catalog())?;
    output::show(|out| {
        serde_json::to_writer_pretty(&mut *out, &Json { plan: &plan, outline: &outline })?;
        writeln!(out)
    })
}

/// Shows a plan as text.
///
/// # Errors
/// [`Failure`] when a plugin cannot say what it would do.
pub fn show(plan: &Plan, inventory: &Inventory) -> Result<(), Failure> {
    let outline = outline(plan, &inventory.loaded.plugins, &inventory.catalog())?;
    output::show(|out| text(plan, &outline, out))
}

fn text(plan: &Plan, outline: &Outline, out: &mut dyn Write) -> io::Result<()> {
    head(plan, out)?;
    writeln!(out, "\nCells")?;
    cells(plan, "  ", out)?;
    order(plan, out)?;
    outline.setups.iter().try_for_each(|setup| actions(setup, out))
}

fn cells(plan: &Plan, indent: &str, out: &mut dyn Write) -> io::Result<()> {
    plan.cells.iter().try_for_each(|cell| writeln!(out, "{indent}{}", cell.id))
}

fn head(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let Plan { scenario, description, cells, order, seed, hosts, guest, baseline, .. } = plan;
    match description.as_str() {
        "" => writeln!(out, "{scenario}")?,
        description => writeln!(out, "{scenario}: {}", printable(description))?,
    }
    let (cells, visits) = (count(cells.len(), "cell"), count(order.len(), "visit"));
    let replicates = replicates(plan);
    let most = if plan.adaptive.is_some() { "at most " } else { "" };
    writeln!(out, "{cells}, {replicates} each, in {most}{visits}; seed of the order {seed}")?;
    let vcpus = count(guest.vcpus as usize, "vCPU");
    writeln!(out, "guest {} with {} of memory and {vcpus}", guest.image, guest.memory)?;
    for (name, host) in hosts {
        writeln!(out, "host {name}: {}", printable(&host.to_string()))?;
    }
    for (host, need) in memory(plan) {
        writeln!(out, "memory needed on {host}: {} MiB", need / u128::from(Bytes::MIB))?;
    }
    let axes = [
        baseline.host.as_ref().map(|host| format!("host {host}")),
        baseline.hypervisor.as_ref().map(|hypervisor| format!("hypervisor {hypervisor}")),
        baseline.storage.as_ref().map(|storage| format!("storage {storage}")),
        baseline.guests.map(|guests| format!("guests {guests}")),
    ];
    let axes: Vec<_> = axes.into_iter().flatten().collect();
    if axes.is_empty() {
        Ok(())
    } else {
        let threshold = plan.threshold.map(|share| format!("; differences under {share} do not matter"));
        writeln!(out, "compared with {}{}", axes.join(", "), threshold.unwrap_or_default())
    }
}

/// `3 replicates`, `3 to 10 replicates (until ±2%)`
fn replicates(plan: &Plan) -> String {
    match plan.adaptive {
        None => count(plan.repeat as usize, "replicate"),
        Some(Adaptive { max, until }) => {
            format!("{} to {max} replicates (until ±{until})", plan.repeat)
        }
    }
}

/// What the largest cell of each host takes, in bytes.
fn memory(plan: &Plan) -> BTreeMap<&Name, u128> {
    let each = u128::from(plan.guest.memory.0) + u128::from(GUEST_OVERHEAD.0);
    let mut hosts = BTreeMap::new();
    for axes in plan.cells.iter().map(|cell| &cell.axes).filter(|axes| !axes.is_bare()) {
        let most = hosts.entry(&axes.host).or_default();
        *most = each.saturating_mul(axes.guests.into()).max(*most);
    }
    hosts
}

fn order(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nOrder")?;
    for (number, visit) in (1..).zip(plan.order.iter().take(SHOWN_VISITS)) {
        let cells = visit.cells.iter().filter_map(|&index| plan.cells.get(index));
        let work: Vec<_> = cells.map(|cell| cell.axes.workload.as_str()).collect();
        let setup = plan.setup(visit).map(|axes| {
            let storage = axes.storage.as_ref().map_or("-", Name::as_str);
            format!("{}/{}/{storage}/{}", axes.host, axes.hypervisor, axes.guests)
        });
        let setup = setup.unwrap_or_default();
        writeln!(out, "  {number:>3} replicate {} of {setup}: {}", visit.replicate, work.join(", "))?;
    }
    match plan.order.len().saturating_sub(SHOWN_VISITS) {
        0 => Ok(()),
        more => writeln!(out, "  ... and {more} more, all with --json"),
    }
}

fn actions(setup: &SetupOutline, out: &mut dyn Write) -> io::Result<()> {
    let SetupOutline { host, hypervisor, storage, guests, steps } = setup;
    let storage = storage.as_ref().map_or("-", Name::as_str);
    let counts: Vec<_> = guests.iter().map(u32::to_string).collect();
    let noun = if hypervisor.as_str() == Axes::BARE { "copies at once" } else { "guests" };
    write!(out, "\nActions of {host}/{hypervisor}/{storage} with {} {noun}", counts.join(", "))?;
    match counts.as_slice() {
        [first, _, ..] => writeln!(out, ", shown for {first}")?,
        _ => writeln!(out)?,
    }
    steps.iter().try_for_each(|planned| step(planned, out))
}

fn step(planned: &PlannedStep, out: &mut dyn Write) -> io::Result<()> {
    let guest = planned.guest.map(|guest| format!(", guest {guest}")).unwrap_or_default();
    let workload = planned.workload.as_ref().map(|workload| format!(", {workload}")).unwrap_or_default();
    let (Planned::Step(Step { say, .. }) | Planned::Own { say, .. }) = &planned.what;
    writeln!(out, "  {}{guest}{workload}: {}", planned.phase, line(say))?;
    match &planned.what {
        Planned::Own { own, .. } => writeln!(out, "    {own}"),
        Planned::Step(step) => {
            action_text::lines(&step.action).iter().try_for_each(|line| writeln!(out, "    {line}"))?;
            let mut undo = step.undo.iter().flat_map(action_text::lines);
            undo.try_for_each(|line| writeln!(out, "    undone by {line}"))
        }
    }
}
