//! What a run had finished, read from its files without the program's own reader.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

/// A cell and its replicate.
type Key = (String, u64);

/// The lines of samples by the replicate of a cell that they belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finished(BTreeMap<Key, Vec<String>>);

impl Finished {
    /// What the run directory holds of replicates that it says were good; nothing where there is none.
    ///
    /// # Errors
    /// When a file that is there cannot be read.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let mut good = BTreeSet::new();
        for (_, event) in lines(&directory.join("events.jsonl"))? {
            if let ("cell_ended", Some(outcome)) = (text(&event, "event"), event.get("outcome")) {
                match text(outcome, "status") {
                    "good" => drop(good.insert(key(outcome))),
                    _ => drop(good.remove(&key(outcome))),
                }
            }
        }
        let mut found: BTreeMap<Key, Vec<String>> = good.into_iter().map(|key| (key, Vec::new())).collect();
        for (line, sample) in lines(&directory.join("samples.jsonl"))? {
            found.entry(key(&sample)).and_modify(|of| of.push(line));
        }
        Ok(Self(found))
    }

    /// Samples of this that `later` does not have exactly once.
    #[must_use]
    pub fn lost_in(&self, later: &Self) -> Vec<String> {
        let kept = |key: &Key, line: &String| {
            later.0.get(key).is_some_and(|lines| lines.iter().filter(|kept| *kept == line).count() == 1)
        };
        let all = self.0.iter().flat_map(|(key, lines)| lines.iter().map(move |line| (key, line)));
        all.filter(|(key, line)| !kept(key, line)).map(|(key, _)| format!("a sample of {key:?}")).collect()
    }

    /// How many lines each replicate of a cell has.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&Key, usize> {
        self.0.iter().map(|(key, lines)| (key, lines.len())).collect()
    }
}

/// The whole lines of a file with their JSON values.
fn lines(path: &Path) -> io::Result<Vec<(String, Value)>> {
    let content = match fs::read_to_string(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let whole = content.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| Ok((line.to_string(), serde_json::from_str(line)?))).collect()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn key(value: &Value) -> Key {
    (text(value, "cell").into(), value["replicate"].as_u64().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_good_is_finished_and_each_of_its_samples_counts_once() {
        let folder = tempfile::tempdir().expect("folder");
        let end = |cell: &str, status: &str| {
            format!(
                r#"{{"event":"cell_ended","outcome":{{"cell":"{cell}","replicate":1,"status":"{status}"}}}}"#
            )
        };
        let sample = |cell: &str| format!("{{\"cell\":\"{cell}\",\"replicate\":1}}\n");
        let events = [end("a", "good"), end("b", "failed"), "cut".into()].join("\n");
        fs::write(folder.path().join("events.jsonl"), events).expect("events");
        let write = |text: String| fs::write(folder.path().join("samples.jsonl"), text).expect("samples");
        write(sample("a") + &sample("b"));
        let finished = Finished::read(folder.path()).expect("read");
        assert_eq!(finished.counts().into_values().collect::<Vec<_>>(), [1]);
        assert_eq!(finished.lost_in(&finished), Vec::<String>::new());
        for wrong in [sample("b"), sample("a") + &sample("a")] {
            write(wrong);
            assert_eq!(finished.lost_in(&Finished::read(folder.path()).expect("read")).len(), 1);
        }
    }
}
