//! A file as the offer that imports it reads it: what `crossvisor import` would make a run of.
//!
//! Owns the table of the plugins under test. It must never read a file itself.

use std::io;
use std::sync::OnceLock;

use crossvisor_import::{Found, Reader};
use crossvisor_loader::{Linked, Loaded, SearchPath, load_all};
use crossvisor_model::Value;
use crossvisor_plugin::Imported;

use crate::Row;

const LINKED: Linked = &[
    ("telemetry-system", crossvisor_telemetry_system::entry),
    ("telemetry-xen", crossvisor_telemetry_xen::entry),
    ("workload-bonnie", crossvisor_workload_bonnie::entry),
    ("workload-fio", crossvisor_workload_fio::entry),
    ("workload-hep", crossvisor_workload_hep::entry),
    ("workload-iperf", crossvisor_workload_iperf::entry),
];

/// What an offer found in a file.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    pub found: Found,
}

impl Offered {
    /// Reads a row's file with the offer called `offer`. Where there is none that imports, the refusal says so.
    #[must_use]
    pub fn read(offer: &str, row: &Row, content: &[u8]) -> Self {
        static LOADED: OnceLock<Loaded> = OnceLock::new();
        let loaded = LOADED.get_or_init(|| load_all(&SearchPath::default(), LINKED));
        let mut found = Found::default();
        let Some(reader) = Reader::of(offer, loaded.plugins.values()) else {
            return Self::default();
        };
        let file = row.path.rsplit('/').next().unwrap_or_default();
        let taken = reader.read::<io::Error>(file, content, |piece| {
            found.results.extend(piece.results);
            found.refused.extend(piece.refused);
            Ok(())
        });
        debug_assert!(taken.is_ok(), "bytes in memory are always readable");
        Self { found }
    }

    #[must_use]
    pub fn results(&self) -> &[Imported] {
        &self.found.results
    }

    /// All reasons of refusals, in lines.
    #[must_use]
    pub fn refusals(&self) -> String {
        self.found.refused.iter().map(|refused| format!("{}: {}\n", refused.line, refused.reason)).collect()
    }
}

/// What a result says of a metric: a number, too fast, or missing with its reason; `None` where it says nothing.
#[must_use]
pub fn value(result: &Imported, metric: &str) -> Option<Value> {
    let values = &result.values;
    let measured = values.measured.get(metric).copied().map(Value::Measured);
    let missing = || values.missing.get(metric).cloned().map(Value::Missing);
    measured.or_else(|| values.too_fast.contains(metric).then_some(Value::TooFast)).or_else(missing)
}

/// The number that a result has for a metric.
#[must_use]
pub fn measured(result: &Imported, metric: &str) -> Option<f64> {
    result.values.measured.get(metric).copied()
}
