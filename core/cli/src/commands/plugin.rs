//! `crossvisor plugin list` and `plugin trust`: what is loaded and from where, what is not and why.

use std::io::{self, Write};
use std::path::PathBuf;

use crossvisor_loader::{trust, Candidate, Loaded, SearchPath, State};
use crossvisor_model::{Manifest, Name, Offer};
use serde::Serialize;

use crate::exit::Failure;
use crate::inventory;
use crate::output::{self, line, long_line};

/// One plugin as `--json` shows it.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    /// A path, or `linked into the program`.
    origin: String,
    way: &'static str,
}

/// One candidate as `--all --json` shows it.
#[derive(Serialize)]
struct Considered<'a> {
    name: &'a str,
    origin: String,
    state: State,
    reason: &'a str,
    sha256: Option<&'a str>,
    manifest: Option<&'a Manifest>,
}

/// All that `--json` shows.
#[derive(Serialize)]
struct Listing<'a> {
    plugins: Vec<Listed<'a>>,
    /// Why others are not loaded.
    problems: Vec<String>,
    /// Only with `--all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<Vec<Considered<'a>>>,
}

/// # Errors
/// [`Failure::Plugin`] for a file named with `--plugin` that does not load; [`Failure::Output`] when standard output
/// does not take it.
pub fn list(all: bool, as_json: bool, explicit: Vec<(Name, PathBuf)>) -> Result<(), Failure> {
    let loaded = inventory::plugins(explicit)?;
    if as_json {
        return output::show(|out| json(&loaded, all, out));
    }
    if all {
        return output::show(|out| loaded.candidates.iter().try_for_each(|one| considered(one, out)));
    }
    for problem in &loaded.problems {
        output::say(&format!("warning: {}", long_line(&problem.to_string())));
    }
    output::show(|out| text(&loaded, out))
}

/// # Errors
/// [`Failure::Trust`] for the first file that cannot be trusted; those before it are.
pub fn trust_all(files: &[PathBuf]) -> Result<(), Failure> {
    let search = SearchPath::from_environment(Vec::new());
    for file in files {
        let trusted = trust(file, &search)?;
        output::show(|out| {
            let path = long_line(&trusted.path.to_string_lossy());
            writeln!(out, "plugin {} may run: {path}, sha256 {}", trusted.name, trusted.sha256)
        })?;
    }
    Ok(())
}

fn json(loaded: &Loaded, all: bool, out: &mut dyn Write) -> io::Result<()> {
    let listed = loaded.plugins.values();
    let plugins = listed
        .map(|p| Listed { manifest: &p.manifest, origin: p.origin.to_string(), way: p.way() })
        .collect();
    let problems = loaded.problems.iter().map(ToString::to_string).collect();
    let candidates = all.then(|| loaded.candidates.iter().map(Considered::new).collect());
    serde_json::to_writer_pretty(&mut *out, &Listing { plugins, problems, candidates })?;
    writeln!(out)
}

impl<'a> Considered<'a> {
    fn new(one: &'a Candidate) -> Self {
        Self {
            name: &one.name,
            origin: one.origin.to_string(),
            state: one.state,
            reason: &one.reason,
            sha256: one.sha256.as_deref(),
            manifest: one.manifest.as_ref(),
        }
    }
}

fn considered(one: &Candidate, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:<9} {:<22} {}", one.state, line(&one.name), long_line(&one.origin.to_string()))?;
    if !one.reason.is_empty() {
        writeln!(out, "          {}", long_line(&one.reason))?;
    }
    Ok(())
}

fn text(loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
    for plugin in loaded.plugins.values() {
        let Manifest { name, version, kind, summary, offers } = &plugin.manifest;
        writeln!(out, "{name} {} ({kind})", line(version))?;
        writeln!(out, "  {}", line(summary))?;
        for Offer { name, summary, .. } in offers {
            writeln!(out, "  offers {name:<14} {}", line(summary))?;
        }
        writeln!(out, "  from   {}", long_line(&plugin.origin.to_string()))?;
    }
    Ok(())
}
