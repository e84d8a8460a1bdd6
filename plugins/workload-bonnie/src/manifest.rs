//! What the plugin says of itself.
//!
//! Owns names, options and their limits. It must never depend on a request.

use crossvisor_plugin::model::{Bytes, Kind, Manifest, Name, NameError, Offer, OptionKind, OptionSpec};
use serde_json::json;

use crate::{stage, zcav};

/// The offer that is only imported.
pub const ZCAV: &str = "zcav";

const LARGEST: u64 = 16 << 40;

pub fn manifest() -> Result<Manifest, NameError> {
    let bonnie = Offer {
        options: options(),
        metrics: stage::metrics(),
        host_programs: vec!["id".into()],
        guest_programs: vec!["bonnie++".into()],
        drops_caches: true,
        imports: true,
        ..Offer::new(Name::new("bonnie")?, "disk throughput, seeks and file operations by bonnie++")
    };
    let zcav = Offer {
        metrics: zcav::metrics(),
        only_imported: true,
        imports: true,
        ..Offer::new(Name::new(ZCAV)?, "disk throughput from end to end by zcav; import only, it is not run")
    };
    Ok(Manifest {
        name: Name::new("workload-bonnie")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Workload,
        summary: "disk and file system benchmark".into(),
        offers: vec![bonnie, zcav],
    })
}

fn options() -> Vec<OptionSpec> {
    let size = || OptionKind::Size { min: Bytes::MIB, max: LARGEST };
    let switch = |name: &str, help: &str| OptionSpec::new(name, OptionKind::Boolean, json!(false), help);
    vec![
        OptionSpec::new("size", size(), None, "data set; unset: twice the memory of the machine"),
        OptionSpec::new(
            "ram",
            size(),
            None,
            "memory bonnie++ reckons with, at most half the data set; unset: half the data set",
        ),
        OptionSpec::new(
            "files",
            OptionKind::Integer { min: 0, max: 100_000 },
            json!(16),
            "files for the file operations, in units of 1024; 0 leaves them out",
        ),
        OptionSpec::new(
            "user",
            OptionKind::Text,
            json!("nobody"),
            "who does the work where it is started by root",
        ),
        switch("fast", "leave out the stages that go character by character"),
        switch(
            "direct",
            "write blocks past the page cache (O_DIRECT); the other stages still use it; needs fast",
        ),
        switch("sync", "flush after every write"),
    ]
}
