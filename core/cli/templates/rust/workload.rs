//! A workload plugin: copies bytes in memory with dd and reads the rate it prints. It runs nothing itself.

use crossvisor_plugin::model::{Action, Exec, Manifest, Step};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{Failure, ParseInput, ParseOutput, ParsedSample, Resume, Turn, WorkInput, Workload, finish};
use serde_json::json;

pub struct Copying;

crossvisor_plugin::plugin!(@stem@, workload, Copying);

const MIB: u64 = 1 << 20;

impl Workload for Copying {
    fn manifest(&self) -> Manifest {
        let manifest = json!({
            "name": "@name@", "version": env!("CARGO_PKG_VERSION"), "kind": "workload",
            "summary": "bytes copied in memory",
            "offers": [{
                "name": "@offer@", "summary": "dd from /dev/zero to /dev/null",
                "options": [{
                    "name": "size", "type": "size", "min": MIB, "max": MIB << 20, "default": MIB << 10,
                    "help": "how much is copied",
                }],
                "metrics": [{
                    "name": "rate", "label": "bytes copied", "unit": "MiB/s", "better": "higher", "headline": true,
                }],
                "guest_programs": ["dd"],
            }],
        });
        serde_json::from_value(manifest).unwrap_or_else(|e| unreachable!("the manifest is one: {e}"))
    }

    fn prepare(&self, _: &Chosen, _: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        finish(Vec::new(), ())
    }

    fn work(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let count = format!("count={}", chosen.whole("size").unwrap_or(MIB << 10) / MIB);
        let argv = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", &count];
        let runs = input.instances.iter().map(|instance| Exec::new(instance.place, argv, 3600.0)).collect();
        let together = Action::Together { round: "copy".into(), servers: Vec::new(), runs };
        finish(vec![Step::new("copy bytes", together)], ())
    }

    fn parse(&self, _: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        let rate = rate(&input.stderr).filter(|_| input.exit == Some(0)).ok_or_else(|| {
            Failure::new(format!("dd {} without a rate: what it said is in the run directory", input.ending()))
        })?;
        let manifest = self.manifest();
        let metrics = manifest.offers.iter().flat_map(|offer| &offer.metrics);
        let samples = metrics.map(|metric| ParsedSample::measured(metric, rate)).collect();
        Ok(ParseOutput { samples, ..ParseOutput::default() })
    }
}

/// MiB/s from the line `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.25 s, 4.3 GB/s`.
fn rate(printed: &str) -> Option<f64> {
    let (before, after) = printed.lines().find_map(|line| line.split_once(" copied, "))?;
    let bytes: f64 = before.split(' ').next()?.parse().ok()?;
    let seconds: f64 = after.split(' ').next()?.parse().ok()?;
    Some(bytes / seconds / MIB as f64).filter(|rate| rate.is_finite() && *rate > 0.0)
}
