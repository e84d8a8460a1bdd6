//! `crossvisor import xl` and `import libvirt`: old guests as scenarios, or as lines of JSON.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crossvisor_model::Name;
use crossvisor_oldguest::{libvirt, scenario, twins, xl, Image, OldGuest, Problem, Reading, Severity};
use serde::Serialize;

use super::import::open;
use crate::arguments::Import;
use crate::exit::{Exit, Failure};
use crate::inventory::Inventory;
use crate::output::{self, long_line};

/// What describes guests.
pub const KINDS: [&str; 2] = ["xl", "libvirt"];
/// More than any description; a device without end is not read for ever.
const MAX_BYTES: u64 = 64 << 20;
/// The image of the scenario, where it is known.
const IMAGE: &str = "debian-12";

/// A guest and the file that it is of; a line of `--json`.
#[derive(Serialize)]
struct Found {
    file: String,
    #[serde(flatten)]
    reading: Reading,
}

/// # Errors
/// [`Failure`] when a file cannot be read or written, or there are several guests and no folder for them.
pub fn execute(asked: &Import, plugins: Vec<(Name, PathBuf)>) -> Result<Exit, Failure> {
    for (option, is_given) in
        [("name", asked.name.is_some()), ("host", asked.host.is_some()), ("storage", asked.storage.is_some())]
    {
        if is_given {
            return Err(Failure::OfResults(option));
        }
    }
    let mut found = Vec::new();
    for path in &asked.files {
        found.extend(read(&asked.kind, path)?);
    }
    let problems =
        || found.iter().flat_map(|found| found.reading.problems.iter().map(move |p| (&found.file, p)));
    problems().for_each(|(file, problem)| tell(file, problem));
    let guests: Vec<(String, &OldGuest)> = last_of_each(&found);
    twins(&guests).iter().for_each(|twin| output::say(&long_line(&format!("warning: {twin}"))));
    if asked.json {
        output::show(|out| {
            found.iter().try_for_each(|found| {
                serde_json::to_writer(&mut *out, found)?;
                writeln!(out)
            })
        })?;
    } else if !guests.is_empty() {
        write(asked, &guests, &image(&Inventory::find(plugins)?)?)?;
    }
    let has_error = problems().any(|(_, problem)| problem.severity == Severity::Error);
    Ok(match (guests.is_empty(), has_error) {
        (true, _) => Exit::Usage,
        (false, true) => Exit::Cells,
        (false, false) => Exit::Good,
    })
}

fn read(kind: &str, path: &Path) -> Result<Vec<Found>, Failure> {
    let mut bytes = Vec::new();
    let unreadable = |source| Failure::Unreadable { path: path.into(), source };
    open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = String::from_utf8_lossy(&bytes);
    let readings = if kind == "xl" { vec![xl(&text)] } else { libvirt(&text) };
    let file = path.to_string_lossy().into_owned();
    Ok(readings.into_iter().map(|reading| Found { file: file.clone(), reading }).collect())
}

fn tell(file: &str, problem: &Problem) {
    output::say(&long_line(&format!("{file}:{problem}")));
}

/// The guests with their names. One that a file describes twice, as when it was installed, is the last of them.
fn last_of_each(found: &[Found]) -> Vec<(String, &OldGuest)> {
    let mut guests: Vec<(&str, &OldGuest)> = Vec::new();
    for (file, guest) in
        found.iter().filter_map(|found| Some((found.file.as_str(), found.reading.guest.as_ref()?)))
    {
        let same = |(other_file, other): &&mut (&str, &OldGuest)| {
            *other_file == file
                && guest.name.is_some()
                && (&other.name, &other.uuid) == (&guest.name, &guest.uuid)
        };
        match guests.iter_mut().find(same) {
            Some(before) => {
                let (name, line) = (guest.called(), before.1.line);
                output::say(&long_line(&format!(
                    "{file}:{}: warning: '{name}' is described in line {line} too: the last counts",
                    guest.line
                )));
                before.1 = guest;
            }
            None => guests.push((file, guest)),
        }
    }
    guests.into_iter().map(|(file, guest)| (format!("{} ({file})", guest.called()), guest)).collect()
}

/// The image that scenarios are written with.
fn image(inventory: &Inventory) -> Result<Image, Failure> {
    let guests = inventory.catalog().guests;
    let known = guests.iter().find(|(name, _)| name.as_str() == IMAGE);
    let other = || guests.iter().find(|(_, offer)| offer.host.is_none());
    let (name, offer) = known.or_else(other).ok_or(Failure::NoImage)?;
    Ok(Image { name: name.clone(), min_memory: offer.min_memory })
}

fn write(asked: &Import, guests: &[(String, &OldGuest)], image: &Image) -> Result<(), Failure> {
    match (guests, &asked.out) {
        ([(_, guest)], None) => output::show(|out| out.write_all(scenario(guest, image).as_bytes())),
        ([(_, guest)], Some(path)) if !path.is_dir() => create(path, &scenario(guest, image)),
        (_, None) => Err(Failure::ManyGuests(guests.len())),
        (_, Some(folder)) => {
            fs::create_dir_all(folder).map_err(Failure::write(folder))?;
            let mut names = std::collections::BTreeSet::new();
            for (_, guest) in guests {
                let name = crossvisor_oldguest::scenario_name(guest.called());
                let name =
                    (1..).map(|number| if number == 1 { name.clone() } else { format!("{name}-{number}") });
                let name = name.into_iter().find(|name| names.insert(name.clone())).unwrap_or_default();
                create(&folder.join(format!("{name}.yaml")), &scenario(guest, image))?;
            }
            Ok(())
        }
    }
}

/// Writes a new file; one that is there is somebody's.
fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(path).map_err(Failure::write(path))?;
    file.write_all(text.as_bytes()).map_err(Failure::write(path))?;
    output::say(&format!("scenario {}", path.display()));
    Ok(())
}
