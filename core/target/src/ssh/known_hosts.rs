//! Which keys a host is known by. OpenSSH's own `ssh-keygen` reads the files, so that hashed names, patterns and
//! marks mean here what they mean there.
//!
//! It must never write to them.

use std::path::{Path, PathBuf};
use std::process::Command;

use ssh_key::Fingerprint;
use ssh2::{CheckResult, HashType, KnownHostFileKind, MethodType, Session};

use crate::TargetError;

/// A line of a file that speaks of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    file: PathBuf,
    /// From 1.
    line: usize,
    revoked: bool,
    /// `ssh-ed25519`
    kind: String,
    /// In base64.
    key: String,
}

/// All lines of these files that speak of `name`. Files that are not there have none.
///
/// # Errors
/// [`TargetError::Start`] when `ssh-keygen` cannot be run.
pub fn find(files: &[PathBuf], name: &str) -> Result<Vec<Known>, TargetError> {
    let mut known = Vec::new();
    for file in files.iter().filter(|file| file.exists()) {
        let output = Command::new("ssh-keygen")
            .args(["-F", name, "-f"])
            .arg(file)
            .output()
            .map_err(|source| TargetError::Start { program: "ssh-keygen".into(), source })?;
        known.extend(read(&String::from_utf8_lossy(&output.stdout), file));
    }
    Ok(known)
}

/// What `ssh-keygen -F` prints: `# Host NAME found: line N [MARK]`, and the line itself. The keys of certificate
/// authorities are left out: libssh2 knows no certificates.
fn read(printed: &str, file: &Path) -> Vec<Known> {
    let lines: Vec<&str> = printed.lines().collect();
    let entry = |pair: &[&str]| {
        let line = pair.first()?.strip_prefix("# Host ")?.rsplit_once(" found: line ")?.1;
        let line = line.split(' ').next()?.parse().ok()?;
        let mut fields = pair.get(1)?.split_whitespace().peekable();
        let mark = fields.next_if(|field| field.starts_with('@'));
        let (kind, key) = (fields.nth(1)?, fields.next()?);
        (mark != Some("@cert-authority")).then(|| Known {
            file: file.into(),
            line,
            revoked: mark.is_some(),
            kind: kind.into(),
            key: key.into(),
        })
    };
    lines.windows(2).filter_map(entry).collect()
}

/// Asks the server first for a key of a kind that is known.
///
/// # Errors
/// That of libssh2 when it has no such method.
pub fn prefer(session: &Session, known: &[Known]) -> Result<(), ssh2::Error> {
    let mut methods = session.supported_algs(MethodType::HostKey)?;
    let is_known = |method: &str| {
        let kind = if method.starts_with("rsa-sha2") { "ssh-rsa" } else { method };
        known.iter().any(|entry| !entry.revoked && entry.kind == kind)
    };
    methods.sort_by_key(|method| !is_known(method));
    session.method_pref(MethodType::HostKey, &methods.join(","))
}

/// Holds the server's key against the known ones.
///
/// # Errors
/// [`TargetError::RevokedHostKey`], [`TargetError::ChangedHostKey`] or [`TargetError::UnknownHostKey`].
pub fn check(session: &Session, known: &[Known], address: &str, name: &str) -> Result<(), TargetError> {
    let address = address.to_string();
    let given = session.host_key().map(|(key, _)| key).unwrap_or_default();
    let digest = session.host_key_hash(HashType::Sha256).and_then(|hash| hash.try_into().ok());
    let fingerprint = digest.map(|digest| Fingerprint::Sha256(digest).to_string()).unwrap_or_default();
    let is_given = |entry: &&Known| matches(session, entry, given);
    if let Some(Known { file, line, .. }) = known.iter().filter(|entry| entry.revoked).find(is_given) {
        return Err(TargetError::RevokedHostKey { address, fingerprint, place: place(file, *line) });
    }
    let mut trusted = known.iter().filter(|entry| !entry.revoked);
    match trusted.clone().find(is_given).or_else(|| trusted.next()) {
        None => Err(TargetError::UnknownHostKey { address, name: name.into(), fingerprint }),
        Some(entry) if is_given(&entry) => Ok(()),
        Some(Known { file, line, .. }) => {
            Err(TargetError::ChangedHostKey { address, fingerprint, place: place(file, *line) })
        }
    }
}

/// Whether a line has this key; one that libssh2 does not understand has not.
fn matches(session: &Session, entry: &Known, given: &[u8]) -> bool {
    let Ok(mut hosts) = session.known_hosts() else { return false };
    let line = format!("host {} {}", entry.kind, entry.key);
    hosts.read_str(&line, KnownHostFileKind::OpenSSH).is_ok()
        && matches!(hosts.check("host", given), CheckResult::Match)
}

/// A line of a file, for people.
fn place(file: &Path, line: usize) -> String {
    format!("{}, line {line}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_lines_are_told_apart() {
        let printed = "# Host [h]:2222 found: line 3 \n|1|salt=|hash= ssh-ed25519 AAAA comment\n\
            # Host h found: line 7 REVOKED\n@revoked h ecdsa-sha2-nistp256 BBBB\n\
            # Host h found: line 8 CA\n@cert-authority *.example ssh-rsa CCCC\n";
        let known = |line, revoked, kind: &str, key: &str| Known {
            file: "f".into(),
            line,
            revoked,
            kind: kind.into(),
            key: key.into(),
        };
        let expected =
            [known(3, false, "ssh-ed25519", "AAAA"), known(7, true, "ecdsa-sha2-nistp256", "BBBB")];
        assert_eq!(read(printed, Path::new("f")), expected);
        assert_eq!(read("", Path::new("f")), []);
    }
}
