//! Names, addresses and keys of a run and its guests, none of which meets that of another run.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crossvisor_model::{Name, NameError};
use sha2::{Digest, Sha256};
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, LineEnding, PrivateKey, PublicKey};

use crate::EngineError;
use crate::work_folder::folder_error;

/// What tells one domain from all others: derived from the run's unique id and what the domain is in it, so that the
/// same names come again when the same guest is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainIdentity {
    /// `cv-1a2b3c4d-v3-g1`, `cv-1a2b3c4d-h1`.
    pub name: Name,
    pub uuid: String,
    pub mac: String,
}

impl DomainIdentity {
    /// A guest of a visit of the run with this id.
    ///
    /// # Errors
    /// [`NameError`] never, for an id that [`crate::work_folder::WorkFolder`] made.
    pub fn guest(id: &str, visit: usize, guest: u32) -> Result<Self, NameError> {
        Ok(Self::of(Name::new(format!("cv-{id}-v{visit}-g{guest}"))?))
    }

    /// A host that is made for the run, by its number.
    ///
    /// # Errors
    /// [`NameError`] never, for such an id.
    pub fn host(id: &str, number: usize) -> Result<Self, NameError> {
        Ok(Self::of(Name::new(format!("cv-{id}-h{number}"))?))
    }

    fn of(name: Name) -> Self {
        let digest: [u8; 32] = Sha256::digest(name.as_str()).into();
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        // RFC 4122, 4.4: version 4, variant 1.
        id[6] = id[6] & 0x0f | 0x40;
        id[8] = id[8] & 0x3f | 0x80;
        let parts = [&id[..4], &id[4..6], &id[6..8], &id[8..10], &id[10..]].map(hex);
        // 52:54:00 is the prefix of QEMU's and KVM's network cards.
        let [.., a, b, c] = digest;
        Self { name, uuid: parts.join("-"), mac: format!("52:54:00:{a:02x}:{b:02x}:{c:02x}") }
    }
}

/// The key with which a run logs in to its guests.
#[derive(Clone, Debug)]
pub struct RunKey {
    /// The private key's file, which only its owner can read.
    pub private: PathBuf,
    /// One OpenSSH line.
    pub public: String,
}

impl RunKey {
    /// Makes a new ed25519 key in a new folder.
    ///
    /// # Errors
    /// [`EngineError`] when it cannot be made or written.
    pub fn generate(folder: &Path) -> Result<Self, EngineError> {
        DirBuilder::new().mode(0o700).create(folder).map_err(folder_error("make", folder))?;
        let key = PrivateKey::random(&mut OsRng, Algorithm::Ed25519)?;
        let text = key.to_openssh(LineEnding::LF)?;
        let private = folder.join("id_ed25519");
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&private);
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(folder_error("write", &private))?;
        Ok(Self { private, public: key.public_key().to_openssh()? })
    }
}

/// A public key line as the key crosses the wire.
///
/// # Errors
/// [`EngineError::Key`] when the line is not a key.
pub fn wire_form(line: &str) -> Result<Vec<u8>, EngineError> {
    Ok(PublicKey::from_openssh(line)?.to_bytes()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_repeatable_and_differ_in_everything() {
        let one = DomainIdentity::guest("1a2b3c4d", 3, 1).expect("identity");
        assert_eq!(one, DomainIdentity::guest("1a2b3c4d", 3, 1).expect("identity"));
        assert!(one.name.as_str().ends_with("-v3-g1"));
        assert_eq!(one.uuid.len(), 36);
        for (id, visit, guest) in [("1a2b3c4e", 3, 1), ("1a2b3c4d", 4, 1), ("1a2b3c4d", 3, 2)] {
            let other = DomainIdentity::guest(id, visit, guest).expect("identity");
            assert!(one.name != other.name && one.uuid != other.uuid && one.mac != other.mac);
        }
    }

    #[test]
    fn the_private_key_is_its_owners_only() {
        let folder = tempfile::tempdir().expect("folder");
        let key = RunKey::generate(&folder.path().join("ssh")).expect("key");
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&key.private.metadata().expect("file").permissions());
        assert_eq!(mode & 0o777, 0o600);
        let wire = wire_form(&key.public).expect("wire");
        assert_eq!(&wire[4..15], b"ssh-ed25519");
    }
}
