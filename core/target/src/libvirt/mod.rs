//! Domains through libvirt.
//!
//! It must never touch a domain that it was not named, and ends and removes only those that carry our tag.

mod address;
mod connection;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crossvisor_model::HostAddress;
use crossvisor_model::domain::TAG_NAMESPACE;
use virt::connect::Connect;
use virt::domain::Domain;
use virt::error::{Error, ErrorNumber};
use virt::sys;

use crate::{TargetError, embed};
use connection::Connection;

/// How long the opening of a connection may take.
const OPENING: Duration = Duration::from_secs(60);
/// The embedded driver may ask the emulator first what it can do, which takes minutes on a slow machine.
const OPENING_EMBEDDED: Duration = Duration::from_secs(300);

/// One libvirt driver.
pub struct Libvirt {
    // Closed before the embedded driver's root is given back.
    connection: Connection,
    root: Option<Root>,
}

/// The embedded driver's root folder.
struct Root {
    path: PathBuf,
    _held: File,
}

/// A domain that carries our tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurDomain {
    pub name: String,
    /// The run it was made for.
    pub run: String,
    pub active: bool,
}

impl Libvirt {
    /// Connects. `qemu:///embed` is given the root folder `embed_root`, which is prepared first; for a driver on another
    /// machine a script is written into `folder`, which must last as long as the connection.
    ///
    /// # Errors
    /// [`TargetError::Uri`] for a driver that there is not, [`TargetError::Libvirt`] when the connection fails,
    /// [`TargetError::Deadline`] when nobody answers.
    pub fn open(address: &HostAddress, embed_root: &Path, folder: &Path) -> Result<Self, TargetError> {
        let (told, root, patience) = if address.uri == embed::URI {
            let root = Root { path: embed_root.to_path_buf(), _held: embed::prepare(embed_root)? };
            (format!("{}?root={}", embed::URI, embed_root.display()), Some(root), OPENING_EMBEDDED)
        } else {
            (address::uri(address, folder)?, None, OPENING)
        };
        let connection = Connection::open(address.uri.clone(), told, patience)?;
        Ok(Self { connection, root })
    }

    /// Versions by name: `libvirt`, and the driver's own program.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when the driver does not tell.
    pub fn versions(&self) -> Result<Vec<(String, String)>, TargetError> {
        let text =
            |version: u32| format!("{}.{}.{}", version / 1_000_000, version / 1000 % 1000, version % 1000);
        let library = self.connection.ask("read the version", Connect::lib_version)?;
        let driver = self.connection.ask("read the driver's name", Connect::driver_type)?;
        let hypervisor = self.connection.ask("read the driver's version", Connect::hyp_version)?;
        Ok(vec![("libvirt".into(), text(library)), (driver.to_lowercase(), text(hypervisor))])
    }

    /// Defines a persistent domain.
    ///
    /// # Errors
    /// [`TargetError::DomainExists`] when another domain has its name, [`TargetError::Libvirt`] with libvirt's own words.
    pub fn define(&self, xml: &str) -> Result<(), TargetError> {
        let new = Identity::of(xml)?;
        let named = self.connection.ask("look up a domain", |connect| {
            lookup(connect, &new.name)?.map(|domain| domain.uuid_string()).transpose()
        })?;
        if named.is_some_and(|uuid| uuid != new.uuid) {
            return Err(TargetError::DomainExists { name: new.name });
        }
        self.connection.ask(&format!("define domain {}", new.name), |connect| {
            connect.define_domain_xml_flags(xml, sys::VIR_DOMAIN_DEFINE_VALIDATE).map(drop)
        })
    }

    /// Starts a domain; one that runs already is a success.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] with libvirt's own words.
    pub fn start(&self, name: &str) -> Result<(), TargetError> {
        let what = format!("start domain {name}");
        let started = self.connection.ask(&what, |connect| {
            let Some(domain) = lookup(connect, name)? else { return Ok(false) };
            match domain.create() {
                Err(e) if !domain.is_active().unwrap_or(false) => Err(e),
                _ => Ok(true),
            }
        })?;
        match started {
            true => Ok(()),
            false => Err(TargetError::Libvirt { what, message: "it is not defined".into() }),
        }
    }

    /// Ends a domain that carries our tag at once; one that does not run, does not exist or is not ours is a success.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when it still runs afterwards.
    pub fn stop(&self, name: &str) -> Result<(), TargetError> {
        self.connection.ask(&format!("stop domain {name}"), |connect| {
            let Some(domain) = ours(connect, name)? else { return Ok(()) };
            match domain.destroy() {
                Err(_) if !domain.is_active().unwrap_or(true) => Ok(()),
                result => or_gone(result),
            }
        })
    }

    /// Forgets a domain that carries our tag with all that libvirt keeps beside its definition; one that does not exist
    /// or is not ours is a success.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when it is still defined afterwards.
    pub fn undefine(&self, name: &str) -> Result<(), TargetError> {
        let is_theirs = self.connection.ask(&format!("undefine domain {name}"), |connect| {
            let Some(domain) = ours(connect, name)? else { return Ok(lookup(connect, name)?.is_some()) };
            let all = sys::VIR_DOMAIN_UNDEFINE_MANAGED_SAVE
                | sys::VIR_DOMAIN_UNDEFINE_SNAPSHOTS_METADATA
                | sys::VIR_DOMAIN_UNDEFINE_CHECKPOINTS_METADATA
                | sys::VIR_DOMAIN_UNDEFINE_NVRAM;
            or_gone(match domain.undefine_flags(all) {
                // Xen's driver knows only the first.
                Err(e) if e.code() == ErrorNumber::InvalidArg.into() => {
                    domain.undefine_flags(sys::VIR_DOMAIN_UNDEFINE_MANAGED_SAVE)
                }
                result => result,
            })
            .map(|()| false)
        })?;
        if is_theirs { Ok(()) } else { self.remove_log(name) }
    }

    /// Removes the log of a domain's emulator, which the embedded driver keeps for ever.
    fn remove_log(&self, name: &str) -> Result<(), TargetError> {
        // libvirt takes no name with a slash.
        let Some(root) = self.root.as_ref().filter(|_| !name.contains('/')) else { return Ok(()) };
        let log = root.path.join("log/qemu").join(format!("{name}.log"));
        match fs::remove_file(&log) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                Err(TargetError::io(format!("remove {}", log.display()))(e))
            }
            _ => Ok(()),
        }
    }

    /// Whether the domain runs; false when it does not exist.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when libvirt does not answer.
    pub fn is_active(&self, name: &str) -> Result<bool, TargetError> {
        self.connection.ask(&format!("look at domain {name}"), |connect| {
            lookup(connect, name)?.map_or(Ok(false), |domain| domain.is_active())
        })
    }

    /// Every domain that carries our tag.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when libvirt does not answer.
    pub fn ours(&self) -> Result<Vec<OurDomain>, TargetError> {
        let all = self.connection.ask("list domains", |connect| connect.list_all_domains(0))?;
        Ok(all.iter().filter_map(tagged).collect())
    }
}

fn lookup(connect: &Connect, name: &str) -> Result<Option<Domain>, Error> {
    match connect.lookup_domain_by_name(name) {
        Ok(domain) => Ok(Some(domain)),
        Err(e) if is_gone(&e) => Ok(None),
        Err(e) => Err(e),
    }
}

/// The domain of this name if it carries our tag.
fn ours(connect: &Connect, name: &str) -> Result<Option<Domain>, Error> {
    let Some(domain) = lookup(connect, name)? else { return Ok(None) };
    Ok(run_of(&domain)?.map(|_| domain))
}

/// The run in the domain's tag; `None` without one, or when the domain vanished meanwhile. Read from the whole
/// definition, which every driver gives.
fn run_of(domain: &Domain) -> Result<Option<String>, Error> {
    let xml = match domain.xml_desc(0) {
        Err(e) if is_gone(&e) => return Ok(None),
        xml => xml?,
    };
    let Ok(document) = roxmltree::Document::parse(&xml) else { return Ok(None) };
    let metadata = document.root_element().children().find(|element| element.has_tag_name("metadata"));
    let mut tags = metadata.into_iter().flat_map(|metadata| metadata.children());
    let tag = tags.find(|element| element.tag_name().namespace() == Some(TAG_NAMESPACE));
    Ok(tag.and_then(|tag| tag.attribute("run")).map(Into::into))
}

fn is_gone(error: &Error) -> bool {
    error.code() == ErrorNumber::NoDomain.into()
}

/// Success when the domain vanished meanwhile, by itself or by somebody else.
fn or_gone(result: Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(e) if is_gone(&e) => Ok(()),
        result => result,
    }
}

/// What tells a domain from others, in its XML.
struct Identity {
    name: String,
    uuid: String,
}

impl Identity {
    fn of(xml: &str) -> Result<Self, TargetError> {
        let wrong = |message: String| TargetError::Libvirt { what: "define a domain".into(), message };
        let document = roxmltree::Document::parse(xml).map_err(|e| wrong(e.to_string()))?;
        let text = |word: &str| {
            let mut elements = document.root_element().children();
            let element = elements.find(|element| element.has_tag_name(word));
            element.and_then(|element| element.text()).map(|text| text.trim().to_string())
        };
        let (name, uuid) =
            text("name").zip(text("uuid")).ok_or_else(|| wrong("it has no name or UUID".into()))?;
        Ok(Self { name, uuid: uuid.to_lowercase() })
    }
}

/// The domain as ours; `None` without our tag, or when it vanished meanwhile.
fn tagged(domain: &Domain) -> Option<OurDomain> {
    let run = run_of(domain).ok()??;
    Some(OurDomain { name: domain.name().ok()?, run, active: domain.is_active().ok()? })
}
