//! The entries of `hosts`: where a host is, or what it is made of.
//!
//! Owns the keys of a host, its three forms and what each takes. It must never know which guests can be hosts.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use crossvisor_model::host::is_local;
use crossvisor_model::{Bytes, HostAddress, HostGuest, HostSpec, Name};

use crate::parse::vcpus;
use crate::reader::{Fields, Reader};
use crate::scenario::Host;
use crate::source::{Span, Spanned};
use crate::tree::Node;

/// The forms of a host, each by the key that it must have, with the keys that it may have beside it.
const FORMS: [(&str, &[&str]); 3] =
    [("uri", &["ssh_config", "bridge"]), ("guest", &["memory", "vcpus", "disk"]), ("up", &[])];
/// The kernel's limit of the name of a network interface, in bytes.
const MAX_BRIDGE: usize = 15;
const DISK: RangeInclusive<Bytes> = Bytes(64 * Bytes::MIB)..=Bytes(16 << 40);

/// The hosts by name; this machine if the key is not there.
pub(crate) fn hosts(reader: &mut Reader, node: Option<&Node>) -> Option<BTreeMap<Name, Host>> {
    let Some(node) = node else {
        let here = HostSpec::Reached(HostAddress::new("qemu:///embed"));
        return Some(BTreeMap::from([(Name::new("here").ok()?, Host::new(here, Span::default()))]));
    };
    let entries = reader.entries(node, "hosts")?;
    if entries.is_empty() {
        reader.problem(node.span, "hosts is empty", "name a host, or leave 'hosts' out to use this machine");
    }
    let mut hosts = BTreeMap::new();
    for (key, node) in entries {
        let name = reader.key_name(key, "host");
        let host = host(reader, key, node);
        if let (Some(name), Some(host)) = (name, host) {
            hosts.insert(name.value, host);
        }
    }
    Some(hosts)
}

fn host(reader: &mut Reader, name: &Spanned<String>, node: &Node) -> Option<Host> {
    let keys: Vec<&str> =
        FORMS.iter().flat_map(|(key, more)| [*key].into_iter().chain(more.iter().copied())).collect();
    let what = format!("host '{}'", name.value);
    let fields = reader.fields(node, &what, &keys, &[])?;
    let form = form(reader, &what, &fields, &keys)?;
    let value = fields.get(form)?;
    let spec = match form {
        "uri" => reached(reader, &fields, value).map(HostSpec::Reached),
        "guest" => made(reader, &fields, value).map(HostSpec::Made),
        _ => reader.name(value, "up").map(|up| HostSpec::Kept { up: up.value }),
    };
    let memory = fields.get("memory").map_or(value.span, |node| node.span);
    Some(Host { spec: spec?, span: name.span, form: value.span, memory })
}

/// The key that says which form of host this is; every key must belong to it.
fn form(reader: &mut Reader, what: &str, fields: &Fields, keys: &[&str]) -> Option<&'static str> {
    let mut forms = FORMS.iter().filter(|(key, _)| fields.get(key).is_some());
    let Some((form, more)) = forms.next() else {
        if fields.keys().all(|key| keys.contains(&key)) {
            let help = "add 'uri: …' (a machine that is there), 'guest: …' (a host to be made of a guest) or \
                        'up: …' (a host that 'crossvisor host up' has made)";
            reader.problem(
                fields.span(),
                format!("{what} says neither where it is nor what it is made of"),
                help,
            );
        }
        return None;
    };
    if let Some((other, _)) = forms.next() {
        let help = "a host is reached ('uri'), made ('guest') or kept ('up'): keep one of these keys";
        reader.problem(fields.key_span(other), format!("{what} has both '{form}' and '{other}'"), help);
        return None;
    }
    let theirs = keys.iter().filter(|key| *key != form && !more.contains(key) && fields.get(key).is_some());
    let theirs: Vec<&&str> = theirs.collect();
    for key in &theirs {
        let owner = FORMS.iter().find(|(_, keys)| keys.contains(key)).map_or("", |(owner, _)| owner);
        let help = match more {
            [] => format!("'{key}' goes with '{owner}'; nothing goes with '{form}'"),
            more => format!("'{key}' goes with '{owner}'; with '{form}' go: {}", more.join(", ")),
        };
        reader.problem(fields.key_span(key), format!("{what} has '{form}', which takes no '{key}'"), help);
    }
    theirs.is_empty().then_some(form)
}

fn reached(reader: &mut Reader, fields: &Fields, node: &Node) -> Option<HostAddress> {
    let uri = uri(reader, node);
    let bridge = fields.get("bridge").map(|node| bridge(reader, node));
    let ssh_config = fields.get("ssh_config").map(|node| ssh_config(reader, node));
    let uri = uri?;
    if ssh_config.is_some() && is_local(&uri) {
        let help = "leave it out: it is for hosts that are reached over SSH, as qemu+ssh://root@host/system";
        reader.problem(
            fields.key_span("ssh_config"),
            format!("'{uri}' is this machine and takes no 'ssh_config'"),
            help,
        );
    }
    Some(HostAddress { uri, ssh_config: ssh_config.flatten(), bridge: bridge.flatten() })
}

/// This machine is reached without a transport, every other over SSH.
fn uri(reader: &mut Reader, node: &Node) -> Option<String> {
    let text = reader.text(node, "uri", "a libvirt URI")?;
    let bad = |c: char| c.is_control() || c.is_whitespace();
    let scheme = text.value.split_once("://").map_or("", |(scheme, _)| scheme);
    let help = "for example qemu:///embed, qemu:///system, qemu+ssh://root@host/system or xen+ssh://root@host/system";
    if scheme.is_empty() || text.value.contains(bad) {
        reader.problem(text.span, format!("'{}' is not a libvirt URI", text.value), help);
        return None;
    }
    if has_password(&text.value) {
        let help = "leave the password out, a run keeps its scenario: hosts are logged in to with a key, of the agent or \
                    of a file that 'IdentityFile' in 'ssh_config' or 'keyfile=' in the URI names";
        reader.problem(text.span, "a URI with a password cannot be used", help);
        return None;
    }
    match (scheme.split_once('+'), is_local(&text.value)) {
        (None, true) | (Some((_, "ssh")), false) => return Some(text.value),
        (_, true) => reader.problem(text.span, format!("'{}' names no other machine", text.value), help),
        (_, false) => {
            reader.problem(text.span, format!("'{}' does not go over SSH", text.value), help);
        }
    }
    None
}

/// `driver://user:password@host/…`
fn has_password(uri: &str) -> bool {
    let authority = uri.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    authority.and_then(|text| text.rsplit_once('@')).is_some_and(|(user, _)| user.contains(':'))
}

/// A name that no program takes for an option and no address ends at.
fn bridge(reader: &mut Reader, node: &Node) -> Option<String> {
    let text = reader.text(node, "bridge", "the name of a bridge")?;
    let name = &text.value;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.len() <= MAX_BRIDGE
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
    {
        return Some(text.value);
    }
    let help = format!(
        "a bridge's name has 1 to {MAX_BRIDGE} letters, digits, '.', '_' or '-'; 'ip link show type bridge' on the \
         host lists them"
    );
    reader.problem(text.span, format!("'{name}' is not the name of a bridge"), help);
    None
}

fn ssh_config(reader: &mut Reader, node: &Node) -> Option<PathBuf> {
    let text = reader.text(node, "ssh_config", "the path of a file")?;
    let help = match text.value.as_str() {
        "" => "write the path of a file, or leave 'ssh_config' out to use your own configuration",
        path if path.starts_with('~') => "write the path in full: '~' is a word of shells",
        path if path.contains(char::is_control) => "leave control characters out",
        _ => return Some(text.value.into()),
    };
    reader.problem(text.span, format!("'{}' is not a path", text.value), help);
    None
}

fn made(reader: &mut Reader, fields: &Fields, node: &Node) -> Option<HostGuest> {
    let guest = reader.name(node, "guest");
    let memory = fields.get("memory").and_then(|node| reader.size(node, "memory"));
    let vcpus = fields.get("vcpus").and_then(|node| vcpus(reader, node));
    let disk = fields.get("disk").and_then(|node| reader.size(node, "disk"));
    let disk = disk.and_then(|size| reader.in_range(size, "disk", DISK));
    Some(HostGuest {
        guest: guest?.value,
        memory: memory.map(|size| size.value),
        vcpus: vcpus.map(|count| count.value),
        disk: disk.map(|size| size.value),
    })
}
