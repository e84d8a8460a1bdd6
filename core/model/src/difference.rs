//! What two documents do not have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// A value that is not the same on two sides. A side that has none says `nothing`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Difference {
    /// The path of the value: `hosts.here.kernel`.
    pub what: String,
    pub before: String,
    pub now: String,
}

impl Difference {
    /// `None` where both are the same.
    #[must_use]
    pub fn of(what: &str, before: &str, now: &str) -> Option<Self> {
        let own = || Self { what: what.into(), before: before.into(), now: now.into() };
        (before != now).then(own)
    }

    /// Of all values of two documents, by their paths. Members with the names `left_out` are no difference, wherever they
    /// are.
    #[must_use]
    pub fn between(
        path: &str,
        before: &impl Serialize,
        now: &impl Serialize,
        left_out: &[&str],
    ) -> Vec<Self> {
        let (before, now) = (leaves(path, before, left_out), leaves(path, now, left_out));
        let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let text = |leaves: &BTreeMap<String, String>, key: &str| {
            leaves.get(key).cloned().unwrap_or_else(|| "nothing".into())
        };
        keys.into_iter().filter_map(|key| Self::of(key, &text(&before, key), &text(&now, key))).collect()
    }
}

/// `hosts.here.kernel: 6.1.0 before, 6.1.1 now`
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} before, {} now", self.what, self.before, self.now)
    }
}

fn leaves(path: &str, document: &impl Serialize, left_out: &[&str]) -> BTreeMap<String, String> {
    let mut leaves = BTreeMap::new();
    collect(path, &serde_json::to_value(document).unwrap_or_default(), left_out, &mut leaves);
    leaves
}

/// The values of a document by their paths.
fn collect(path: &str, value: &serde_json::Value, left_out: &[&str], leaves: &mut BTreeMap<String, String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (name, value) in members.iter().filter(|(name, _)| !left_out.contains(&name.as_str())) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(&path, value, left_out, leaves);
            }
        }
        serde_json::Value::String(text) => drop(leaves.insert(path.into(), text.clone())),
        other => drop(leaves.insert(path.into(), other.to_string())),
    }
}
