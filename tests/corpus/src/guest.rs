//! What the words of claims about old guests mean, in whatever format they are.
//!
//! Owns how disks, sizes and texts are matched. It must never know a format's own words.

use crossvisor_model::Bytes;
use crossvisor_oldguest::{Disk, OldGuest, Problem, Severity};

use crate::{Claim, Verdict};

/// Whether the guest has a disk that all these words hold of, and whether it has so many as the claim says.
#[must_use]
pub fn disks(claim: &Claim, guest: &OldGuest) -> Verdict {
    let count = claim.value.split([' ', ':']).next().unwrap_or_default();
    let rest = claim.value.strip_prefix(count).unwrap_or_default().trim_start_matches(':');
    let listed = format!("{}; {rest}", claim.note);
    let listed = listed.split([';', ',']).map(str::trim).filter(|item| item.contains(' '));
    let mut verdict = Verdict::number(count, Some(guest.disks.len() as f64));
    for item in listed {
        verdict = verdict.and(disk(item, guest));
    }
    verdict
}

/// Whether the guest has a disk that all these words hold of.
#[must_use]
pub fn disk(words: &str, guest: &OldGuest) -> Verdict {
    let words: Vec<&str> =
        words.split(' ').map(|word| word.trim_matches(['(', ')'])).filter(|w| !w.is_empty()).collect();
    let found = guest.disks.iter().any(|disk| words.iter().all(|word| holds(disk, word)));
    Verdict::of(found, format!("{:?}", guest.disks))
}

/// Whether a word of people holds of a disk.
fn holds(disk: &Disk, word: &str) -> bool {
    let is = |value: &Option<String>| value.as_deref() == Some(word);
    let backend = disk.backend.as_deref().unwrap_or_default();
    let named = |path: &str| {
        let paths = [Some(disk.target.as_str()), disk.path.as_deref()];
        let begins = |own: &str| path.strip_suffix("...").is_some_and(|begin| own.starts_with(begin));
        paths
            .into_iter()
            .flatten()
            .any(|own| own == path || own.ends_with(&format!("/{path}")) || begins(own))
    };
    let prefixed = word.rsplit_once(':').is_some_and(|(prefix, path)| backend == prefix && named(path));
    match word {
        "disk" => disk.is_disk(),
        "w" | "rw" => disk.writable,
        "r" | "ro" => !disk.writable,
        "LV" => disk.backing.as_ref().is_some_and(|backing| backing.offer == "lvm"),
        "iso" | "ISO" => disk.target.to_ascii_lowercase().ends_with(".iso"),
        "file" => disk.kind == crossvisor_oldguest::DiskKind::File,
        "block" => disk.kind == crossvisor_oldguest::DiskKind::Block,
        // A prefix of xm, or xl's backendtype: nothing said is the same as phy for a block device.
        "phy" => backend == "phy",
        _ => {
            disk.device == word
                || disk.role == word
                || is(&disk.format)
                || is(&disk.bus)
                || backend == word.replace('/', ":")
                || named(word)
                || prefixed
        }
    }
}

/// Whether a size is as written: `105472 KiB`, `512 MB` (of 1024).
#[must_use]
pub fn size(written: &Claim, found: Option<Bytes>) -> Verdict {
    let Some((number, unit)) = written.number() else {
        return Verdict::Wrong("no number is expected".into());
    };
    let scale = match unit {
        "MB" | "MiB" => Bytes::MIB,
        "GB" | "GiB" => 1 << 30,
        _ => Bytes::KIB,
    };
    Verdict::number(number, found.map(|bytes| bytes.0 as f64 / scale as f64))
}

/// What a value is where it stands for a text, a number or a choice.
#[must_use]
pub fn other(key: &str, wanted: &str, guest: &OldGuest) -> Option<Verdict> {
    let value = guest.other.get(key)?;
    let text = value.as_str().map_or_else(|| value.to_string(), String::from);
    let choices: Vec<String> = match value.get("one of").and_then(|choices| choices.as_array()) {
        Some(choices) => choices.iter().filter_map(|choice| choice.as_str()).map(String::from).collect(),
        None => vec![text.clone()],
    };
    let wanted = alternatives(wanted);
    let is_right = choices.len() == wanted.len() && choices.iter().all(|choice| wanted.contains(choice));
    Some(Verdict::of(is_right, text))
}

/// `/usr/<lib|lib64>/x` in full.
fn alternatives(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('<') else { return vec![text.into()] };
    let Some((inside, after)) = rest.split_once('>') else { return vec![text.into()] };
    inside.split('|').map(|choice| format!("{before}{choice}{after}")).collect()
}

/// Whether a problem of this kind speaks of all these words.
#[must_use]
pub fn told(problems: &[Problem], severity: Severity, words: &[&str]) -> Verdict {
    let speaks = |problem: &&Problem| {
        let text = format!("line {} {}", problem.line, problem.message);
        problem.severity == severity && words.iter().all(|word| text.contains(word))
    };
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Verdict::of(problems.iter().any(|problem| speaks(&problem)), all.join(" | "))
}
