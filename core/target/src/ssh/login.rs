//! Who logs in: keys of an agent and of files, in OpenSSH's order.

use std::path::Path;

use ssh_key::PrivateKey;
use ssh2::{PublicKey, Session};

use super::{Login, SshAddress};
use crate::TargetError;

/// Logs in with the first key that the server takes.
///
/// # Errors
/// [`TargetError::Login`] that says what came of each key.
pub fn log_in(session: &Session, address: &SshAddress) -> Result<(), TargetError> {
    let user = &address.user;
    let tried = match &address.login {
        Login::Key(key) => with_file(session, user, key),
        Login::Any { agent, identities, only_identities } => {
            let by_agent = agent.iter().map(|agent| {
                let tried = with_agent(session, user, agent, identities, *only_identities);
                tried.map_err(|reason| format!("agent at {}: {reason}", agent.display()))
            });
            let files = identities.iter().filter(|file| file.exists());
            let by_file = files.map(|file| with_file(session, user, file));
            first(by_agent.chain(by_file)).map_err(|reasons| reasons.join("; "))
        }
    };
    tried.map_err(|message| TargetError::Login {
        address: address.way.to_string(),
        user: user.clone(),
        message: if message.is_empty() { "there is no key to log in with".into() } else { message },
    })
}

/// Tries until one works; else all reasons.
fn first(tries: impl Iterator<Item = Result<(), String>>) -> Result<(), Vec<String>> {
    let mut reasons = Vec::new();
    for tried in tries {
        match tried {
            Ok(()) => return Ok(()),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(reasons)
}

fn with_file(session: &Session, user: &str, file: &Path) -> Result<(), String> {
    let named = |reason: &dyn std::fmt::Display| format!("{}: {reason}", file.display());
    let text = std::fs::read_to_string(file).map_err(|e| named(&e))?;
    if is_encrypted(&text) {
        return Err(named(&"it has a passphrase: add it to an agent with ssh-add"));
    }
    session.userauth_pubkey_file(user, None, file, None).map_err(|e| named(&e.message()))
}

fn is_encrypted(text: &str) -> bool {
    match PrivateKey::from_openssh(text) {
        Ok(key) => key.is_encrypted(),
        // RFC 1421 and PKCS #8
        Err(_) => text.lines().take(3).any(|line| line.contains("ENCRYPTED")),
    }
}

fn with_agent(
    session: &Session,
    user: &str,
    socket: &Path,
    identities: &[std::path::PathBuf],
    only_identities: bool,
) -> Result<(), String> {
    let said = |e: ssh2::Error| e.message().to_string();
    let mut agent = session.agent().map_err(said)?;
    agent.set_identity_path(socket).map_err(said)?;
    agent.connect().map_err(said)?;
    agent.list_identities().map_err(said)?;
    let keys = agent.identities().map_err(said)?;
    let wanted: Vec<Vec<u8>> = identities.iter().filter_map(|file| public(file)).collect();
    let named = wanted.iter().filter_map(|blob| keys.iter().find(|key| key.blob() == blob));
    let others = keys.iter().filter(|key| !only_identities && !wanted.iter().any(|blob| key.blob() == blob));
    let try_key = |key: &PublicKey| {
        agent.userauth(user, key).map_err(|e| format!("{}: {}", key.comment(), e.message()))
    };
    first(named.chain(others).map(try_key)).map_err(|reasons| match reasons.is_empty() {
        true => "it has no key".to_string(),
        false => reasons.join(", "),
    })
}

/// The public half of a private key's file as it crosses the wire: from the file beside it, or from itself.
fn public(file: &Path) -> Option<Vec<u8>> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".pub");
    let beside =
        std::fs::read_to_string(beside).ok().and_then(|text| ssh_key::PublicKey::from_openssh(&text).ok());
    let key = beside.or_else(|| {
        let text = std::fs::read_to_string(file).ok()?;
        Some(PrivateKey::from_openssh(text).ok()?.public_key().clone())
    })?;
    key.to_bytes().ok()
}
