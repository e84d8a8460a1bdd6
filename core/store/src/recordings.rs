//! Recordings of telemetry, reading by reading.
//!
//! Owns which of them a reader gets: those of one replicate of each cell. It must never read outside the run directory.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use crossvisor_model::{CellId, Telemetry, TelemetrySummary};

use crate::run_directory::read_json;

/// Recordings that are read at most: those of about a thousand cells.
const MOST: usize = 3000;

/// The recordings behind these summaries, of the first replicate of each cell; what is missing or damaged is left out, as
/// its summary stands for it.
#[must_use]
pub fn recordings(directory: &Path, summaries: &[TelemetrySummary]) -> Vec<Telemetry> {
    let mut first: HashMap<&CellId, u32> = HashMap::new();
    for summary in summaries {
        let known = first.entry(&summary.cell).or_insert(summary.replicate);
        *known = summary.replicate.min(*known);
    }
    let wanted = summaries.iter().filter(|summary| first.get(&summary.cell) == Some(&summary.replicate));
    wanted.take(MOST).filter_map(|summary| read_json(&directory.join(file(summary)?)).ok()).collect()
}

/// Where the recording lies in the directory; `None` for a cell that would lead out of it.
fn file(summary: &TelemetrySummary) -> Option<PathBuf> {
    let TelemetrySummary { cell, replicate, place, offer, source, .. } = summary;
    let cell = Path::new(&*cell.0);
    let place = place.to_string().replace(' ', "-");
    let stays = cell.components().all(|part| matches!(part, Component::Normal(_)));
    stays.then(|| {
        Path::new("raw").join(cell).join(format!("{replicate}/telemetry/{place}.{offer}.{source}.json"))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn summary(cell: &str, replicate: u32) -> TelemetrySummary {
        let summary = json!({"cell": cell, "replicate": replicate, "place": {"guest": 2}, "offer": "system",
            "source": "cpu", "series": []});
        serde_json::from_value(summary).expect("summary")
    }

    #[test]
    fn the_first_replicate_of_each_cell_is_read_and_nothing_outside() {
        let folder = tempfile::tempdir().expect("folder");
        let run = folder.path().join("run");
        let recording = |cell: &str, replicate: u32| {
            json!({"cell": cell, "replicate": replicate, "place": {"guest": 2}, "offer": "system", "source": "cpu",
                "start_s": 0.5, "recording": {"at_s": [1.0], "series": []}})
        };
        let mut summaries = Vec::new();
        for (cell, replicate) in [("h/a", 2), ("h/a", 1), ("h/b", 3), ("../out", 1)] {
            let path = run.join("raw").join(cell).join(format!("{replicate}/telemetry"));
            fs::create_dir_all(&path).expect("folder");
            fs::write(path.join("guest-2.system.cpu.json"), recording(cell, replicate).to_string())
                .expect("write");
            summaries.push(summary(cell, replicate));
        }
        summaries.push(summary("h/missing", 1));
        let read = recordings(&run, &summaries);
        let found: Vec<_> = read.iter().map(|one| (&*one.cell.0, one.replicate)).collect();
        assert_eq!(found, [("h/a", 1), ("h/b", 3)]);
    }
}
