//! What makes a clone itself among clones of one image.
//!
//! Owns the making of names, ids and keys. It must never write them anywhere.

use ssh_key::rand_core::{OsRng, RngCore};
use ssh_key::{Algorithm, LineEnding, PrivateKey};

use crate::ImageError;

/// A clone's own name, id and keys.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    pub hostname: String,
    /// 32 hex digits.
    pub machine_id: String,
    /// The SSH host key, private, in OpenSSH's format.
    pub host_key: String,
    /// The SSH host key, public, as one OpenSSH line without its end.
    pub host_key_public: String,
    /// Who may log in: one OpenSSH public key line.
    pub authorized_key: String,
}

impl Identity {
    /// Makes a new id and an ed25519 host key.
    ///
    /// # Errors
    /// [`ImageError::Key`] when no key can be made.
    pub fn generate(hostname: &str, authorized_key: &str) -> Result<Self, ImageError> {
        let mut id = [0_u8; 16];
        OsRng.fill_bytes(&mut id);
        let mut key = PrivateKey::random(&mut OsRng, Algorithm::Ed25519)?;
        key.set_comment(hostname);
        Ok(Self {
            hostname: hostname.into(),
            machine_id: id.iter().map(|byte| format!("{byte:02x}")).collect(),
            host_key: key.to_openssh(LineEnding::LF)?.to_string(),
            host_key_public: key.public_key().to_openssh()?,
            authorized_key: authorized_key.trim_end().into(),
        })
    }
}

impl std::fmt::Debug for Identity {
    /// Without the private key: it must not get into a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity")
            .field("hostname", &self.hostname)
            .field("machine_id", &self.machine_id)
            .field("host_key_public", &self.host_key_public)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_differ_and_their_keys_belong_together() {
        let [one, other] =
            [1, 2].map(|_| Identity::generate("g1", "ssh-ed25519 AAAA me\n").expect("identity"));
        assert_ne!(one.machine_id, other.machine_id);
        assert_ne!(one.host_key_public, other.host_key_public);
        assert_eq!(one.machine_id.len(), 32);
        assert_eq!(one.authorized_key, "ssh-ed25519 AAAA me");
        let private = PrivateKey::from_openssh(&one.host_key).expect("private");
        assert_eq!(private.public_key().to_openssh().expect("public"), one.host_key_public);
        assert!(one.host_key_public.starts_with("ssh-ed25519 ") && one.host_key_public.ends_with(" g1"));
        assert!(!format!("{one:?}").contains("PRIVATE KEY"));
    }
}
