//! What the kernel of a machine tells while it works, and old recordings of the same.
//!
//! Owns the plugin's two offers: `system`, the sampler on the host and in each guest, and `iostat`, the import of what
//! iostat and sar printed and of snapshots of /proc/diskstats.

mod cpu;
mod diskstats;
mod iostat;
mod manifest;
mod readings;

use crossvisor_plugin::model::{Manifest, Name, Place, Recording};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, ImportInput, ImportOutput, RecordInput, Source, SourcesInput, SourcesOutput, Telemetry,
};

/// The plugin.
pub struct System;

impl Telemetry for System {
    fn manifest(&self) -> Manifest {
        manifest::manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn sources(&self, chosen: &Chosen, input: &SourcesInput) -> Result<SourcesOutput, Failure> {
        if chosen.offer.as_str() != manifest::SYSTEM || input.place == Place::Controller {
            return Ok(SourcesOutput::default());
        }
        let probe = input.probe.to_string_lossy().into_owned();
        let argv = vec![probe, "sample".into(), "--interval".into(), input.interval_s.to_string()];
        let name = Name::new(manifest::SYSTEM).map_err(|e| Failure::new(e.to_string()))?;
        Ok(SourcesOutput { sources: vec![Source { name, argv }] })
    }

    fn record(&self, _: &Chosen, input: &RecordInput) -> Result<Recording, Failure> {
        Ok(readings::record(&input.text))
    }

    fn import(&self, _: &Chosen, input: &ImportInput) -> Result<ImportOutput, Failure> {
        // A report means nothing without the headings and the banner before it.
        Ok(if input.last { iostat::import(&input.text) } else { ImportOutput::default() })
    }
}

crossvisor_plugin::plugin!(telemetry_system, telemetry, System);
