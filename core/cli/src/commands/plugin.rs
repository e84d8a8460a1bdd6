//! `crossvisor plugin`: what is loaded and from where.

use std::io::{self, Write};
use std::path::PathBuf;

use crossvisor_loader::Loaded;
use crossvisor_model::{Manifest, Name, Offer};
use serde::Serialize;

use crate::exit::Failure;
use crate::inventory;
use crate::output::{self, printable};

/// One plugin as `--json` shows it.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    /// A path, or `linked into the program`.
    origin: String,
}

/// All that `--json` shows.
#[derive(Serialize)]
struct Listing<'a> {
    plugins: Vec<Listed<'a>>,
    /// Why others are not loaded.
    problems: Vec<String>,
}

/// # Errors
/// [`Failure::Output`] when standard output does not take it.
pub fn list(as_json: bool, explicit: Vec<(Name, PathBuf)>) -> Result<(), Failure> {
    let loaded = inventory::plugins(explicit);
    if as_json {
        return output::show(|out| json(&loaded, out));
    }
    for problem in &loaded.problems {
        output::say(&format!("warning: {}", printable(&problem.to_string())));
    }
    output::show(|out| text(&loaded, out))
}

fn json(loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
    let listed = loaded.plugins.values();
    let plugins = listed.map(|p| Listed { manifest: &p.manifest, origin: p.origin.to_string() }).collect();
    let problems = loaded.problems.iter().map(ToString::to_string).collect();
    serde_json::to_writer_pretty(&mut *out, &Listing { plugins, problems })?;
    writeln!(out)
}

fn text(loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
    for plugin in loaded.plugins.values() {
        let Manifest { name, version, kind, summary, offers } = &plugin.manifest;
        writeln!(out, "{name} {} ({kind})", printable(version))?;
        writeln!(out, "  {}", printable(summary))?;
        for Offer { name, summary, .. } in offers {
            writeln!(out, "  offers {name:<14} {}", printable(summary))?;
        }
        writeln!(out, "  from   {}", printable(&plugin.origin.to_string()))?;
    }
    Ok(())
}
