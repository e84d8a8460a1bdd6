//! The report as OpenMetrics text, for time series databases and the dashboards on them.
//!
//! Owns the families, their labels and the text format (OpenMetrics 1.0). Nothing that was not measured is exposed:
//! a value that is not known has no line. Units of what workloads measure are as many as their tools have, so `unit`
//! is a label there; families of the program's own are in base units.

use crossvisor_analysis::{CellReport, Comparison, Row, Summary};
use crossvisor_model::{Axes, CellStatus, Name, RunRecord, SeriesSummary};

use crate::clean::one_line;

/// A number of a metric in a cell that is exposed: its family, what it is, and where it comes from.
type Figure = (&'static str, &'static str, fn(&Row) -> Option<f64>);

const FIGURES: [Figure; 8] = [
    ("crossvisor_result_replicates", "Replicates that the mean is of.", |row| {
        Some(summary(row).map_or(0.0, |summary| summary.n as f64))
    }),
    ("crossvisor_result_mean", "Mean over replicates of the mean over guests, in the label's unit.", |row| {
        summary(row).map(|summary| summary.mean)
    }),
    ("crossvisor_result_sd", "Standard deviation over replicates, in the label's unit.", |row| {
        summary(row)?.sd
    }),
    ("crossvisor_result_low", "Lower end of the mean's 95 % interval, in the label's unit.", |row| {
        Some(summary(row)?.interval?.low)
    }),
    ("crossvisor_result_high", "Upper end of the mean's 95 % interval, in the label's unit.", |row| {
        Some(summary(row)?.interval?.high)
    }),
    ("crossvisor_result_ratio", "Mean by the baseline's mean.", |row| Some(row.ratio?.value)),
    ("crossvisor_result_doubted", "Reasons to doubt the values.", |row| Some(row.flags.len() as f64)),
    ("crossvisor_result_too_fast", "Values that the tool could not measure.", |row| {
        Some(row.estimate.too_fast() as f64)
    }),
];

/// A number of a series of telemetry, in the same way.
type OfSeries = (&'static str, &'static str, fn(&SeriesSummary) -> f64);

const SERIES: [OfSeries; 2] = [
    ("crossvisor_telemetry_mean", "Mean of a series while it was measured, in the label's unit.", |series| {
        series.mean
    }),
    (
        "crossvisor_telemetry_max",
        "Maximum of a series while it was measured, in the label's unit.",
        |series| series.max,
    ),
];

fn summary(row: &Row) -> Option<&Summary> {
    row.estimate.summary()
}

/// The run as OpenMetrics text, with its `# EOF`.
#[must_use]
pub fn openmetrics(record: &RunRecord, comparison: &Comparison) -> String {
    let mut text = Exposition { text: String::new(), run: escape(&one_line(&record.name)) };
    run(&mut text, record);
    for (family, help, figure) in FIGURES {
        text.family(family, "gauge", help);
        for workload in &comparison.workloads {
            for metric in &workload.metrics {
                let own = [("metric", &*metric.spec.name), ("unit", &*metric.spec.unit)];
                for (row, cell) in metric.rows.iter().zip(&workload.cells) {
                    text.line(family, &labels(cell, &own), figure(row));
                }
            }
        }
    }
    setups(&mut text, record, comparison);
    telemetry(&mut text, record, comparison);
    text.text + "# EOF\n"
}

fn run(text: &mut Exposition, record: &RunRecord) {
    text.family("crossvisor_run", "info", "What the run is.");
    let program = &record.provenance.crossvisor;
    let about = [("scenario", record.plan.scenario.as_str()), ("version", program)];
    text.line("crossvisor_run_info", &about.map(|(name, value)| (name, value.to_string())), Some(1.0));
    text.family("crossvisor_run_complete", "gauge", "1 where the run came to its end, else 0.");
    text.line("crossvisor_run_complete", &[], Some(f64::from(u8::from(record.complete))));
    text.family("crossvisor_run_replicates", "gauge", "Replicates of cells by what came of them.");
    let count = |wanted: fn(&CellStatus) -> bool| {
        Some(record.outcomes.iter().filter(|outcome| wanted(&outcome.status)).count() as f64)
    };
    for (status, number) in [
        ("good", count(|status| matches!(status, CellStatus::Good))),
        ("failed", count(|status| matches!(status, CellStatus::Failed { .. }))),
        ("skipped", count(|status| matches!(status, CellStatus::Skipped { .. }))),
    ] {
        text.line("crossvisor_run_replicates", &[("status", status.to_string())], number);
    }
}

fn setups(text: &mut Exposition, record: &RunRecord, comparison: &Comparison) {
    let family = "crossvisor_provision_seconds";
    text.family(family, "gauge", "From the start of a visit until every guest answered.");
    text.of_replicates(family, comparison, |cell| {
        let own = record.setups.iter().filter(move |setup| setup.cell == cell.cell);
        own.map(|setup| (setup.replicate, Vec::new(), setup.provision_s)).collect()
    });
    let family = "crossvisor_release_skew_seconds";
    text.family(family, "gauge", "From the first to the last instance that was let go, by measured round.");
    text.of_replicates(family, comparison, |cell| {
        let own = record.setups.iter().filter(move |setup| setup.cell == cell.cell);
        let rounds = own.flat_map(|setup| setup.skew_s.iter().map(|round| (setup.replicate, round)));
        rounds
            .map(|(replicate, (round, skew_s))| (replicate, vec![("round", one_line(round))], *skew_s))
            .collect()
    });
}

fn telemetry(text: &mut Exposition, record: &RunRecord, comparison: &Comparison) {
    for (family, help, of) in SERIES {
        text.family(family, "gauge", help);
        text.of_replicates(family, comparison, |cell| {
            let own = record.telemetry.iter().filter(|summary| summary.cell == cell.cell);
            let all = own.flat_map(|source| source.series.iter().map(move |series| (source, series)));
            all.map(|(source, series)| {
                let labels = vec![
                    ("place", source.place.to_string()),
                    ("offer", source.offer.to_string()),
                    ("source", source.source.to_string()),
                    ("series", one_line(&series.name)),
                    ("unit", one_line(&series.unit)),
                ];
                (source.replicate, labels, of(series))
            })
            .collect()
        });
    }
}

type Labels = Vec<(&'static str, String)>;

fn labels(cell: &CellReport, own: &[(&'static str, &str)]) -> Labels {
    let Axes { host, hypervisor, storage, guests, workload } = &cell.axes;
    let storage = storage.as_ref().map_or(String::new(), Name::to_string);
    let mut labels = vec![
        ("host", host.to_string()),
        ("hypervisor", hypervisor.to_string()),
        ("storage", storage),
        ("guests", guests.to_string()),
        ("workload", workload.to_string()),
    ];
    labels.extend(own.iter().map(|(name, value)| (*name, one_line(value))));
    labels
}

/// The text so far, and the run that every line is of, escaped.
struct Exposition {
    text: String,
    run: String,
}

impl Exposition {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.text += &format!("# TYPE {name} {kind}\n# HELP {name} {help}\n");
        if name.ends_with("_seconds") {
            self.text += &format!("# UNIT {name} seconds\n");
        }
    }

    /// A line, unless its value is not known.
    fn line(&mut self, name: &str, labels: &[(&'static str, String)], value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        self.text += &format!("{name}{{run=\"{}\"", self.run);
        for (label, text) in labels {
            self.text += &format!(",{label}=\"{}\"", escape(text));
        }
        self.text += &format!("}} {value}\n");
    }

    /// Lines of the replicates of each cell: the replicate, labels of its own, and the value.
    fn of_replicates(
        &mut self,
        family: &str,
        comparison: &Comparison,
        of: impl Fn(&CellReport) -> Vec<(u32, Labels, f64)>,
    ) {
        for cell in comparison.workloads.iter().flat_map(|workload| &workload.cells) {
            for (replicate, own, value) in of(cell) {
                let mut labels = labels(cell, &[]);
                labels.push(("replicate", replicate.to_string()));
                labels.extend(own);
                self.line(family, &labels, Some(value));
            }
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
