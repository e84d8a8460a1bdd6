//! What Xen tells of its domains while they work, and old recordings of the same.
//!
//! Owns the plugin's two offers: `xen`, the CPU of dom0 and of each domain by xentop, and `xenmon`, the import of what
//! xentop, xl (xm) and virt-top printed.

mod domains;
mod manifest;
mod words;
mod xenmon;

use crossvisor_plugin::model::{Manifest, Name, Place, Recording};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, ImportInput, ImportOutput, RecordInput, Source, SourcesInput, SourcesOutput, Telemetry,
};

/// The plugin.
pub struct Xen;

impl Telemetry for Xen {
    fn manifest(&self) -> Manifest {
        manifest::manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn sources(&self, chosen: &Chosen, input: &SourcesInput) -> Result<SourcesOutput, Failure> {
        let is_dom0 = input.place == Place::Host && input.driver == "xen";
        if chosen.offer.as_str() != manifest::XEN || !is_dom0 {
            return Ok(SourcesOutput::default());
        }
        // xentop takes whole seconds, and keeps its lines to itself unless it is told to print each at once.
        let delay = input.interval_s.ceil().max(1.0).to_string();
        let probe = input.probe.to_string_lossy().into_owned();
        let xentop = ["follow", "--", "stdbuf", "-oL", "xentop", "-b", "-f", "-d", &delay];
        let argv = [probe].into_iter().chain(xentop.map(String::from)).collect();
        let name = Name::new(manifest::XENTOP).map_err(|e| Failure::new(e.to_string()))?;
        Ok(SourcesOutput { sources: vec![Source { name, argv }] })
    }

    fn record(&self, _: &Chosen, input: &RecordInput) -> Result<Recording, Failure> {
        Ok(domains::record(&input.text, &input.domains))
    }

    fn import(&self, _: &Chosen, input: &ImportInput) -> Result<ImportOutput, Failure> {
        // A row means nothing without the headings before it.
        Ok(if input.last { xenmon::import(&input.text) } else { ImportOutput::default() })
    }
}

crossvisor_plugin::plugin!(telemetry_xen, telemetry, Xen);
