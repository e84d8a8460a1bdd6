//! Where a note holds, in few words: `bonnie write, read in every setup`.
//!
//! Owns the grouping of places. It must never know what the note says, nor a format.

/// As many names as are listed one by one.
const MOST: usize = 8;

/// One place a note holds for.
pub struct Place {
    /// Said before `what`, once for all that it has; may be empty.
    pub of: String,
    /// A metric or a workload.
    pub what: String,
    pub setup: String,
    /// In how many setups there is such a `what`; 0 where that does not matter.
    pub setups: usize,
}

/// Everything that is so in the same setups.
struct Group {
    of: String,
    whats: Vec<String>,
    setups: Vec<String>,
    everywhere: bool,
}

/// The places in the order they come, those of one `what` side by side.
pub fn grouped(places: &[Place]) -> Vec<String> {
    let mut groups: Vec<Group> = Vec::new();
    for own in places.chunk_by(|a, b| (&a.of, &a.what) == (&b.of, &b.what)) {
        let mut setups: Vec<String> = own.iter().map(|place| place.setup.clone()).collect();
        setups.dedup();
        let (of, what) = (own[0].of.clone(), own[0].what.clone());
        match groups.iter_mut().find(|group| group.of == of && group.setups == setups) {
            Some(group) => group.whats.push(what),
            None => {
                let everywhere = setups.len() > 1 && setups.len() == own[0].setups;
                groups.push(Group { of, whats: vec![what], setups, everywhere });
            }
        }
    }
    let mut texts: Vec<String> = groups.iter().map(Group::text).collect();
    let rest = texts.len().saturating_sub(MOST);
    if rest > 0 {
        texts.truncate(MOST);
        texts.push(format!("and {rest} more"));
    }
    texts
}

impl Group {
    fn text(&self) -> String {
        let setups = if self.everywhere { "every setup".to_string() } else { listed(&self.setups) };
        let space = if self.of.is_empty() { "" } else { " " };
        format!("{}{space}{} in {setups}", self.of, listed(&self.whats))
    }
}

fn listed(names: &[String]) -> String {
    let rest = names.len().saturating_sub(MOST);
    let shown = names[..names.len() - rest].join(", ");
    if rest == 0 { shown } else { format!("{shown} and {rest} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(of: &str, what: &str, setups: &[&str], all: usize) -> Vec<Place> {
        let place = |setup: &&str| Place {
            of: of.to_string(),
            what: what.to_string(),
            setup: (*setup).to_string(),
            setups: all,
        };
        setups.iter().map(place).collect()
    }

    #[test]
    fn what_holds_in_the_same_setups_is_said_once() {
        let all = [
            places("disk", "write", &["bare", "kvm"], 2),
            places("disk", "read", &["bare", "kvm"], 2),
            places("disk", "seeks", &["kvm"], 2),
            places("disk", "stat", &["kvm"], 1),
            places("net", "out", &["kvm"], 2),
        ];
        assert_eq!(
            grouped(&all.into_iter().flatten().collect::<Vec<_>>()),
            ["disk write, read in every setup", "disk seeks, stat in kvm", "net out in kvm"]
        );
        assert_eq!(grouped(&places("", "disk", &["a 1", "a 2"], 0)), ["disk in a 1, a 2"]);
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let wide = places("disk", "write", &names, 21);
        assert_eq!(grouped(&wide), ["disk write in 0, 1, 2, 3, 4, 5, 6, 7 and 12 more"]);
        assert_eq!(grouped(&places("disk", "write", &names, 20)), ["disk write in every setup"]);
        let high: Vec<Place> = names.iter().flat_map(|what| places("", what, &[what], 0)).collect();
        let texts = grouped(&high);
        assert_eq!((texts.len(), texts[7].as_str(), texts[8].as_str()), (9, "7 in 7", "and 12 more"));
    }
}
