//! Which charts a comparison has.
//!
//! Owns what goes into each chart, and its colours: one for each hypervisor, the same in all charts. It must never draw:
//! that is `svg`'s part.

mod balance;
mod bars;
mod overall;
mod scaling;
mod storages;

use crossvisor_analysis::{Comparison, MetricComparison, WorkloadComparison};
use crossvisor_model::{Axes, Name};

pub use overall::overall;

use crate::clean::one_line;
use crate::svg::bars::{Bar, Group};
use crate::svg::{Drawing, STYLE};
use crate::table::{Metrics, Setups, direction, shown};

/// The charts of one metric.
pub struct Pictures {
    /// By number of guests: values, percentages of the baseline, guests beside each other, and the curves over the number
    /// of guests.
    pub large: Vec<Drawing>,
    /// One for each hypervisor that was measured on several storages, with the same axis.
    pub storages: Vec<Drawing>,
}

/// All charts of headline metrics as SVG files with the name of each: `disk-write`, `disk-write-relative`.
#[must_use]
pub fn charts(comparison: &Comparison) -> Vec<(String, String)> {
    let of_workload = |workload: &WorkloadComparison| {
        let metrics = shown(workload, Metrics::Headline);
        let pictures = metrics.map(|metric| of_metric(comparison, workload, metric));
        pictures.flat_map(|pictures| pictures.large.into_iter().chain(pictures.storages)).collect::<Vec<_>>()
    };
    let all = overall(comparison).into_iter().chain(comparison.workloads.iter().flat_map(of_workload));
    let files: Vec<_> = all.map(|drawing| (drawing.id.clone(), drawing.svg(STYLE))).collect();
    distinct(files)
}

/// Names that differ: a number goes behind one that was there before.
fn distinct(mut files: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut taken = std::collections::BTreeSet::new();
    for (name, _) in &mut files {
        let plain = name.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            *name = format!("{plain}-{number}");
            number += 1;
        }
    }
    files
}

/// The charts of one metric.
pub fn of_metric(
    comparison: &Comparison,
    workload: &WorkloadComparison,
    metric: &MetricComparison,
) -> Pictures {
    let source = Source { comparison, workload, metric, palette: Palette::of(comparison) };
    let large = bars::values(&source).into_iter().chain(bars::percentages(&source));
    Pictures {
        large: large.chain(balance::balance(&source)).chain(scaling::curves(&source)).collect(),
        storages: storages::panels(&source),
    }
}

/// The colour of each hypervisor; on several hosts, of those of each host.
struct Palette {
    several_hosts: bool,
    hypervisors: Vec<Name>,
}

impl Palette {
    fn of(comparison: &Comparison) -> Self {
        let mut hypervisors = Vec::new();
        for cell in comparison.workloads.iter().flat_map(|workload| &workload.cells) {
            if !cell.axes.is_bare() && !hypervisors.contains(&cell.axes.hypervisor) {
                hypervisors.push(cell.axes.hypervisor.clone());
            }
        }
        Self { several_hosts: Setups::of(comparison).several_hosts(), hypervisors }
    }

    /// 0 is the bare host's.
    fn series(&self, hypervisor: &Name) -> usize {
        self.hypervisors.iter().position(|known| known == hypervisor).map_or(0, |index| index + 1)
    }

    /// `2 guests`, `2 guests on rack7`
    fn group(&self, host: &Name, guests: u32) -> String {
        let on = if self.several_hosts { format!(" on {host}") } else { String::new() };
        format!("{guests} guest{}{on}", if guests == 1 { "" } else { "s" })
    }

    /// A bar without its value.
    fn bar(&self, axes: &Axes) -> Bar {
        Bar { label: machine(axes), series: self.series(&axes.hypervisor), ..Bar::default() }
    }

    /// Bars in groups of equal host and number of guests, those of few guests first.
    fn groups(&self, bars: Vec<(&Axes, Bar)>) -> Vec<Group> {
        let mut keys: Vec<(u32, &Name)> = Vec::new();
        for (axes, _) in &bars {
            if !keys.contains(&(axes.guests, &axes.host)) {
                keys.push((axes.guests, &axes.host));
            }
        }
        keys.sort_by_key(|(guests, _)| *guests);
        let group = |(guests, host): (u32, &Name)| {
            let own = bars.iter().filter(|(axes, _)| (axes.guests, &axes.host) == (guests, host));
            let bars = own.map(|(_, bar)| bar.clone()).collect();
            Group { label: self.group(host, guests), bars: thinned(bars) }
        };
        keys.into_iter().map(group).collect()
    }
}

/// `kvm-virtio/file`, `bare`
fn machine(axes: &Axes) -> String {
    let storage = axes.storage.as_ref().map_or(String::new(), |storage| format!("/{storage}"));
    format!("{}{storage}", axes.hypervisor)
}

/// Bars of a group that a person still looks at.
const MOST: usize = 24;

/// Of too many bars the greatest and the least, and between them how many are left out.
fn thinned(bars: Vec<Bar>) -> Vec<Bar> {
    if bars.len() <= MOST {
        return bars;
    }
    let left_out = bars.len() - MOST;
    let (mut bars, without): (Vec<Bar>, Vec<Bar>) = bars.into_iter().partition(|bar| bar.value.is_some());
    bars.sort_by(|a, b| b.value.unwrap_or(0.0).total_cmp(&a.value.unwrap_or(0.0)));
    bars.extend(without);
    let text = format!("{left_out} more: see the table");
    let between = Bar { label: "…".to_string(), text, ..Bar::default() };
    bars.splice(MOST / 2..MOST / 2 + left_out, [between]);
    bars
}

/// What the charts of a metric are made of.
struct Source<'a> {
    comparison: &'a Comparison,
    workload: &'a WorkloadComparison,
    metric: &'a MetricComparison,
    palette: Palette,
}

impl Source<'_> {
    fn id(&self, suffix: &str) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        format!("{}-{}{suffix}", self.workload.workload, self.metric.spec.name).chars().map(safe).collect()
    }

    fn title(&self) -> String {
        format!("{}: {}", self.workload.workload, one_line(&self.metric.spec.label))
    }

    fn axis(&self, unit: &str) -> String {
        match direction(self.metric.spec.better) {
            "" => unit.to_string(),
            better => format!("{unit}, {better}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_bars_the_ends_are_shown() {
        let bar =
            |value: u32| Bar { value: Some(f64::from(value)), label: value.to_string(), ..Bar::default() };
        assert_eq!(thinned((0..24).map(bar).collect()).len(), 24);
        let few = thinned((0..100).map(bar).chain([Bar::default()]).collect());
        let labels: Vec<&str> = few.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels.len(), 25);
        assert_eq!((labels[0], labels[11], labels[12], labels[13], labels[24]), ("99", "88", "…", "10", ""));
        assert_eq!(few[12].text, "77 more: see the table");
    }

    #[test]
    fn files_have_names_of_their_own() {
        let files = ["a", "a", "b", "a"].map(|name| (name.to_string(), String::new()));
        let names: Vec<String> = distinct(files.to_vec()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "a-2", "b", "a-3"]);
    }
}
