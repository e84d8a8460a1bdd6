//! Removes what dead runs left: by their journals, and by the tags of domains whose run has no living process.
//!
//! It must never touch a domain without our tag, a file outside a work folder that no journal names, or anything of
//! a run that is alive.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crossvisor_model::{Action, HostAddress, Name};
use crossvisor_store::{Journal, journal};
use crossvisor_target::libvirt::OurDomain;
use crossvisor_target::{TargetError, embed};

use crate::hosts::{Connections, Host, KeptHost, forget, kept};
use crate::steps::in_seconds;
use crate::undo::undo;
use crate::work_folder::{WorkFolder, folder_error};
use crate::{EngineError, Settings};

/// Each single removal may take this long, in seconds.
const LIMIT_S: f64 = 60.0;

/// What was found and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    pub actions: Vec<CleanedAction>,
    /// Runs that were left alone because they are alive.
    pub alive: Vec<String>,
}

/// One thing that was removed, or is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanedAction {
    pub run: String,
    /// `domain cv-1a2b3c4d-v1-g1`, `folder /var/lib/…`.
    pub what: String,
    /// `None`: removed (in a dry run: would be). Else why not.
    pub failure: Option<String>,
}

/// Cleans up after all dead runs, or after one.
///
/// # Errors
/// [`EngineError`] when the state folder cannot be read; what cannot be removed is told in the result.
pub fn clean(settings: &Settings, dry_run: bool, only: Option<&str>) -> Result<Cleaned, EngineError> {
    let wanted = |run: &str| only.is_none_or(|only| only == run);
    let mut cleaned = Cleaned::default();
    let mut dead = Vec::new();
    for path in work_folders(&settings.work())? {
        let run = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match WorkFolder::adopt(&path)? {
            None => cleaned.alive.push(run),
            Some(folder) if wanted(&run) => dead.push((run, folder)),
            Some(_) => {}
        }
    }
    let connections = Connections::new(settings, &settings.state);
    let mut cleaner = Cleaner { connections: &connections, dry_run, hosts: BTreeMap::new(), cleaned };
    if settings.embed_root().is_dir() {
        match cleaner.host(&Name::new("here")?, &HostAddress::new(embed::URI)) {
            // Its domains are of a run that is alive, or wait until that has ended.
            Err(EngineError::Host { source: TargetError::Busy(_), .. }) => {}
            other => drop(other?),
        }
    }
    for (run, folder) in &dead {
        if let Err(e) = cleaner.journal(run, folder) {
            cleaner.note(run, "what its journal names".into(), Some(e.to_string()));
        }
    }
    let kept: BTreeSet<String> = kept::list(settings)?
        .keys()
        .map(|name| KeptHost::tag(name).map(String::from))
        .collect::<Result<_, _>>()?;
    let ids: Vec<&str> = dead.iter().map(|(_, folder)| folder.id()).filter(|id| !id.is_empty()).collect();
    cleaner.tagged(|run| wanted(run) && !kept.contains(run), &ids)?;
    let Cleaner { mut cleaned, .. } = cleaner;
    for (run, folder) in dead {
        remove_folder(run, folder, dry_run, &mut cleaned);
    }
    if only.is_none() {
        let builds = crossvisor_image::sweep(&settings.images(), dry_run)?.into_iter();
        cleaned.actions.extend(builds.map(|folder| CleanedAction {
            run: "(image build)".into(),
            what: format!("folder {}", folder.display()),
            failure: None,
        }));
    }
    Ok(cleaned)
}

/// Undoes what a journal has pending and returns why what is left could not be undone.
///
/// # Errors
/// [`EngineError`] when the journal cannot be read or one of its hosts cannot be reached.
pub fn undo_journal(folder: &WorkFolder, connections: &Connections<'_>) -> Result<Vec<String>, EngineError> {
    let (hosts, cleaned) = (BTreeMap::new(), Cleaned::default());
    let mut cleaner = Cleaner { connections, dry_run: false, hosts, cleaned };
    cleaner.journal("", folder)?;
    let actions = cleaner.cleaned.actions.into_iter();
    Ok(actions.filter_map(|action| Some(format!("{}: {}", action.what, action.failure?))).collect())
}

struct Cleaner<'a> {
    connections: &'a Connections<'a>,
    dry_run: bool,
    /// Those that were needed so far, by address.
    hosts: BTreeMap<String, Host>,
    cleaned: Cleaned,
}

impl Cleaner<'_> {
    fn host(&mut self, name: &Name, address: &HostAddress) -> Result<&Host, EngineError> {
        match self.hosts.entry(format!("{address:?}")) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let host = Host::attach(name, address, true, self.connections, PathBuf::new())?;
                Ok(new.insert(host))
            }
        }
    }

    /// Undoes what a journal has pending. What is on a host that was made for the run goes with that host, and what was
    /// on one that stayed has gone with it where it was taken down.
    fn journal(&mut self, run: &str, folder: &WorkFolder) -> Result<(), EngineError> {
        let mut hosts = folder.hosts()?;
        for noted in hosts.values_mut() {
            noted.made |= kept::is_gone(self.connections.settings, &noted.address)?;
        }
        let journal = Journal::open(&folder.journal())?;
        let mut failed = false;
        for pending in journal::pending(&folder.journal())? {
            let unknown = || EngineError::NotInPlan { what: "host", name: pending.host.clone() };
            let noted = hosts.get(&pending.host).ok_or_else(unknown)?;
            if noted.made {
                continue;
            }
            let dry_run = self.dry_run;
            let host = self.host(&pending.host, &noted.address)?;
            let failure = match dry_run {
                true => None,
                false => undo(&pending.undo, host, in_seconds(LIMIT_S)).err().map(|e| e.to_string()),
            };
            if failure.is_none() && !dry_run {
                journal.undone(&pending)?;
            }
            failed |= failure.is_some();
            self.note(run, describe(&pending.undo), failure);
        }
        if failed || self.dry_run { Ok(()) } else { forget(folder, &journal, &hosts) }
    }

    /// Removes tagged domains of runs that are not alive. The embedded driver's root is ours alone; on another host the
    /// domains of a run with one of the `ids` are ours, and all others belong to somebody else's run.
    fn tagged(&mut self, wanted: impl Fn(&str) -> bool, ids: &[&str]) -> Result<(), EngineError> {
        let mut found = Vec::new();
        for host in self.hosts.values() {
            let failed = |source| EngineError::Host { host: host.name.clone(), source };
            let domains = host.domains().map_err(failed)?;
            let own = |name: &str| ids.iter().any(|id| name.starts_with(&format!("cv-{id}-")));
            let is_ours = |domain: &OurDomain| {
                let here = host.address.uri == embed::URI || own(&domain.name);
                here && wanted(&domain.run) && !self.cleaned.alive.contains(&domain.run)
            };
            for domain in domains.ours().map_err(failed)?.into_iter().filter(is_ours) {
                let removed = match self.dry_run {
                    true => Ok(()),
                    false => domains.stop(&domain.name).and_then(|()| domains.undefine(&domain.name)),
                };
                found.push((domain, removed.err().map(|e| e.to_string())));
            }
        }
        for (domain, failure) in found {
            self.note(&domain.run, format!("domain {}", domain.name), failure);
        }
        Ok(())
    }

    /// Notes a removal once: a domain is stopped and then undefined, which is one thing to a person.
    fn note(&mut self, run: &str, what: String, failure: Option<String>) {
        let action = CleanedAction { run: run.into(), what, failure };
        if !self.cleaned.actions.contains(&action) {
            self.cleaned.actions.push(action);
        }
    }
}

fn describe(undo: &Action) -> String {
    match undo {
        Action::DomainStop { name } | Action::DomainUndefine { name } => format!("domain {name}"),
        Action::RemoveFile { path, .. } => format!("file {}", path.display()),
        Action::Exec(exec) => exec.argv.join(" "),
        other => format!("an action that undoes nothing ({other:?})"),
    }
}

fn remove_folder(run: String, folder: WorkFolder, dry_run: bool, cleaned: &mut Cleaned) {
    let what = format!("folder {}", folder.path().display());
    let is_stuck = cleaned.actions.iter().any(|action| action.run == run && action.failure.is_some());
    let failure = match (dry_run, is_stuck) {
        (true, _) => None,
        (false, true) => Some("kept, because it has the journal of what could not be removed".into()),
        (false, false) => folder.remove().err().map(|e| e.to_string()),
    };
    cleaned.actions.push(CleanedAction { run, what, failure });
}

fn work_folders(parent: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let entries = match fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(folder_error("read", parent)(e)),
    };
    let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(folder_error("read", parent))?;
    paths.retain(|path| WorkFolder::is_one(path));
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::NotedHost;
    use crossvisor_model::Place;

    /// A dead run with one pending removal of a file.
    fn dead_run(settings: &Settings, name: &str, file: &Path, address: HostAddress) {
        let folder = WorkFolder::create(&settings.work(), name).expect("folder");
        let host = Name::new("here").expect("name");
        let noted = NotedHost { address, made: false };
        folder.note_hosts(&BTreeMap::from([(host.clone(), noted)])).expect("hosts");
        let undo = Action::RemoveFile { on: Place::Host, path: file.into() };
        Journal::open(&folder.journal()).and_then(|journal| journal.begin(&host, &undo)).expect("journal");
    }

    #[test]
    fn what_was_on_a_host_that_was_taken_down_is_gone_with_it() {
        let lab = tempfile::tempdir().expect("folder");
        let path = |name: &str| lab.path().join(name);
        let settings = Settings { state: path("s"), cache: path("c"), emulator: "none".into() };
        let address = HostAddress {
            ssh_config: Some(settings.hosts().join("xen/host/ssh_config")),
            ..HostAddress::new("xen+ssh://root@cv-1a2b3c4d-h1/system")
        };
        dead_run(&settings, "lost-run", &path("there"), address);
        let cleaned = clean(&settings, false, None).expect("cleaned");
        assert!(cleaned.actions.iter().all(|action| action.failure.is_none()), "{cleaned:?}");
        assert!(!settings.work().join("lost-run").exists());
    }

    #[test]
    fn only_what_dead_runs_made_is_removed_and_one_damaged_journal_keeps_nothing_else() {
        let lab = tempfile::tempdir().expect("folder");
        let path = |name: &str| lab.path().join(name);
        let settings = Settings { state: path("s"), cache: path("c"), emulator: "none".into() };
        for file in ["good", "damaged", "decoy"] {
            fs::write(path(file), "content").expect("file");
        }
        dead_run(&settings, "good-run", &path("good"), HostAddress::new("test:///default"));
        dead_run(&settings, "damaged-run", &path("damaged"), HostAddress::new("test:///default"));
        fs::write(settings.work().join("damaged-run/journal.jsonl"), "garbage{{{\n").expect("journal");
        let alive = WorkFolder::create(&settings.work(), "alive-run").expect("folder");
        fs::create_dir(settings.work().join("decoy-run")).expect("folder");
        fs::write(settings.work().join("decoy-run/a.raw"), "theirs").expect("file");
        fs::create_dir(path("precious")).expect("folder");
        std::os::unix::fs::symlink(path("precious"), settings.work().join("link-run")).expect("link");

        let dry = clean(&settings, true, None).expect("dry run");
        assert!(path("good").exists() && settings.work().join("good-run").exists());
        let cleaned = clean(&settings, false, None).expect("cleaned");
        assert_eq!(dry.actions.len(), cleaned.actions.len());
        assert_eq!(cleaned.alive, ["alive-run"]);
        assert!(!path("good").exists() && !settings.work().join("good-run").exists());
        let failed: Vec<_> = cleaned.actions.iter().filter(|action| action.failure.is_some()).collect();
        assert!(!failed.is_empty() && failed.iter().all(|action| action.run == "damaged-run"), "{cleaned:?}");
        for kept in ["damaged", "decoy", "s/live/decoy-run/a.raw", "s/live/link-run", "s/live/damaged-run"] {
            assert!(path(kept).exists(), "{kept} is gone");
        }
        assert_eq!(fs::read_dir(path("precious")).expect("folder").count(), 0);
        drop(alive);
    }
}
