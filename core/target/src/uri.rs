//! libvirt's connection URIs: `driver[+transport]://[user@][host][:port]/path[?word=value&…]`.
//!
//! Owns their parts and what of them may be handed to a program. It must never let one through that a program could
//! take for an option or a shell for more than a word.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::str::FromStr;

use crate::TargetError;

/// A URI in its parts (<https://libvirt.org/uri.html>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    pub driver: String,
    pub transport: Option<String>,
    pub user: Option<String>,
    /// A name or an address, without brackets.
    pub host: Option<String>,
    pub port: Option<u16>,
    /// With its slash.
    pub path: String,
    /// In their order, decoded.
    pub query: Vec<(String, String)>,
}

/// A machine as OpenSSH is asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub user: Option<String>,
    pub host: String,
    pub port: Option<u16>,
    /// Private keys to try besides those of the configuration.
    pub identities: Vec<PathBuf>,
}

impl Uri {
    /// The machine behind it; `None` for this one.
    #[must_use]
    pub fn destination(&self) -> Option<Destination> {
        let keys = self.query.iter().filter(|(word, _)| word == "keyfile");
        Some(Destination {
            user: self.user.clone(),
            host: self.host.clone()?,
            port: self.port,
            identities: keys.map(|(_, path)| path.into()).collect(),
        })
    }
}

impl FromStr for Uri {
    type Err = TargetError;

    /// # Errors
    /// [`TargetError::Uri`] that says which part is wrong.
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong = |reason: String| TargetError::Uri { uri: text.into(), reason };
        let (scheme, rest) =
            text.split_once("://").ok_or_else(|| wrong("it has no '://' after the driver".into()))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let slash = rest.find('/').ok_or_else(|| wrong("it has no path such as '/system'".into()))?;
        let (authority, path) = rest.split_at(slash);
        let (driver, transport) = match scheme.split_once('+') {
            Some((driver, transport)) => (driver, Some(transport)),
            None => (scheme, None),
        };
        let (user, machine) = match authority.rsplit_once('@') {
            Some((user, machine)) => (Some(user), machine),
            None => (None, authority),
        };
        let (host, port) = split_port(machine).ok_or_else(|| wrong(format!("'{machine}' is no host")))?;
        if user.is_some_and(|user| user.contains(':')) {
            // What the message shows ends up in logs.
            let uri = format!("{scheme}://…@{machine}{path}");
            return Err(TargetError::Uri { uri, reason: "it holds a password".into() });
        }
        if let Some(user) = user.filter(|user| !is_word(user, "._-")) {
            return Err(wrong(format!("'{user}' is no name of a user")));
        }
        if !host.is_empty() && !is_word(&host, "._-:%") {
            return Err(wrong(format!("'{host}' is no name or address of a host")));
        }
        Ok(Self {
            driver: driver.into(),
            transport: transport.map(Into::into),
            user: user.map(Into::into),
            host: Some(host).filter(|host| !host.is_empty()),
            port,
            path: path.into(),
            query: words(query).ok_or_else(|| wrong("a '%' in its query is no code".into()))?,
        })
    }
}

/// Host without brackets, and port.
fn split_port(machine: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match machine.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => machine.split_at(machine.find(':').unwrap_or(machine.len())),
    };
    let port = match port.strip_prefix(':') {
        Some(port) => Some(port.parse().ok()?),
        None if port.is_empty() => None,
        None => return None,
    };
    Some((decode(host)?, port))
}

/// Letters, digits and `also`, and not like an option.
fn is_word(text: &str, also: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || also.contains(c))
}

fn words(query: &str) -> Option<Vec<(String, String)>> {
    let words = query.split('&').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (word, value) = word.split_once('=').unwrap_or((word, ""));
            Some((decode(word)?, decode(value)?))
        })
        .collect()
}

/// Percent-encoded text (RFC 3986, 2.1); `None` where it is not that.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, after) = match first {
            b'%' => (u8::from_str_radix(std::str::from_utf8(after.get(..2)?).ok()?, 16).ok()?, &after[2..]),
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// Text as a value of a query.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            // Writing to a string cannot fail.
            _ => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Uri {
        text.parse().expect("a URI")
    }

    #[test]
    fn a_remote_uri_has_all_its_parts() {
        let uri = parts("xen+ssh://root@h.example:2222/system?keyfile=/my%20keys/id&no_tty=1");
        assert_eq!((uri.driver.as_str(), uri.transport.as_deref()), ("xen", Some("ssh")));
        assert_eq!((uri.path.as_str(), uri.query.len()), ("/system", 2));
        let expected = Destination {
            user: Some("root".into()),
            host: "h.example".into(),
            port: Some(2222),
            identities: vec!["/my keys/id".into()],
        };
        assert_eq!(uri.destination(), Some(expected));
    }

    #[test]
    fn a_local_uri_has_no_destination() {
        let uri = parts("qemu:///system");
        assert_eq!((uri.driver.as_str(), uri.path.as_str()), ("qemu", "/system"));
        assert_eq!((&uri.transport, uri.destination()), (&None, None));
    }

    #[test]
    fn addresses_of_version_6_stand_in_brackets() {
        let uri = parts("qemu+ssh://[fe80::1%25br0]:22/session");
        assert_eq!((uri.host.as_deref(), uri.port), (Some("fe80::1%br0"), Some(22)));
        assert_eq!(parts("qemu+ssh://[::1]/session").port, None);
    }

    #[test]
    fn what_a_program_could_take_for_something_else_is_refused() {
        for bad in [
            "qemu+ssh://-oProxyCommand=id/system",
            "qemu+ssh://h;id/system",
            "qemu+ssh://-lroot@h/system",
            "qemu+ssh://a b@h/system",
            "qemu+ssh://@h/system",
            "qemu+ssh://%2doProxyCommand=id/system",
            "qemu+ssh://$(id)/system",
        ] {
            let error = bad.parse::<Uri>().expect_err(bad).to_string();
            assert!(error.contains(bad), "{error}");
        }
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        for bad in ["qemu+ssh://me:s3cret@h/system", "xen+ssh://me:s3c@ret@h:22/system?keyfile=/k"] {
            let error = bad.parse::<Uri>().expect_err(bad).to_string();
            assert!(
                error.contains("password") && !error.contains("s3c") && !error.contains("ret@"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_is_no_uri_says_why() {
        for (bad, why) in [
            ("xen", "://"),
            ("xen://", "path"),
            ("xen+ssh://h:x/", "no host"),
            ("xen+ssh://h:70000/", "no host"),
            ("xen+ssh://[::1/system", "no host"),
            ("xen+ssh://h/system?keyfile=%zz", "query"),
        ] {
            let error = bad.parse::<Uri>().expect_err(bad).to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_value_is_read_back_as_it_was() {
        for text in ["/a b&c=d%/ä", "", "~/.ssh/id"] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
    }
}
