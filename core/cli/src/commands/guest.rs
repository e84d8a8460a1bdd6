//! `crossvisor guest`: guests and their images.

use std::io::{self, Write};
use std::path::Path;

use crossvisor_engine::Settings;
use crossvisor_image::{build as build_image, cached, GuestDefinition, GuestLibrary};
use crossvisor_target::Cancel;

use crate::exit::Failure;
use crate::output::{self, printable, size};
use crate::progress::Building;
use crate::signals::{self, Words};

const WORDS: Words =
    Words { removing: "the unfinished image", rest: "the next build of this guest removes the rest" };

/// # Errors
/// [`Failure::Output`] when standard output does not take it.
pub fn list() -> Result<(), Failure> {
    let cache = Settings::from_environment().images();
    let mut guests = Vec::new();
    for guest in GuestLibrary::from_environment().list().into_values() {
        match guest {
            Ok(guest) => guests.push(guest),
            Err(problem) => output::say(&format!("warning: {problem}")),
        }
    }
    output::show(|out| guests.iter().try_for_each(|guest| text(guest, &cache, out)))
}

fn text(guest: &GuestDefinition, cache: &Path, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", guest.name)?;
    writeln!(out, "  {}", printable(&guest.summary))?;
    writeln!(out, "  memory at least {}; definition: {}", guest.min_memory, printable(&guest.origin))?;
    match cached(guest, cache) {
        Some(image) => writeln!(
            out,
            "  built: {} on disk ({} as the guest sees it), {}",
            size(image.facts.root_allocated_bytes),
            size(image.facts.root_bytes),
            image.folder.display()
        ),
        None => {
            writeln!(out, "  not built: 'crossvisor guest build {}' or the first run does it", guest.name)
        }
    }
}

/// # Errors
/// [`Failure`] when there is no such guest or its image cannot be built.
pub fn build(name: &str, no_color: bool) -> Result<(), Failure> {
    let cache = Settings::from_environment().images();
    let guest = GuestLibrary::from_environment().get(name)?;
    if let Some(image) = cached(&guest, &cache) {
        return output::show(|out| writeln!(out, "{name} is built already: {}", image.folder.display()));
    }
    let cancel = Cancel::default();
    let mut building = Building::new(name, no_color);
    let watch = signals::watch(&cancel, WORDS, building.voice())?;
    let image = build_image(&guest, &cache, &mut |p| building.progress(&p), &|| cancel.is_raised());
    drop(watch);
    let took = building.finish();
    let image = image?;
    let bytes = size(image.facts.root_allocated_bytes);
    output::show(|out| writeln!(out, "{name} built in {took}: {bytes}, {}", image.folder.display()))
}
