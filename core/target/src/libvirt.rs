//! Domains through libvirt.
//!
//! Owns the connection and the one event loop of this process. It must never touch a domain that it was not
//! named, and names come only from the engine or from domains that carry our tag.

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use crossvisor_model::HostAddress;
use crossvisor_model::domain::TAG_NAMESPACE;
use virt::connect::Connect;
use virt::domain::Domain;
use virt::error::{Error, ErrorNumber};
use virt::sys;

use crate::{TargetError, embed, libvirt_address};

/// How long the opening of a connection may take. The embedded driver asks the emulator what it can do, which takes
/// minutes on a slow machine.
const OPENING: Duration = Duration::from_secs(300);
/// How long a daemon may be away while it is restarted.
const RESTART: Duration = Duration::from_secs(5);
/// A connection over which nothing came for `KEEPALIVE_S` times `KEEPALIVES` seconds is dead.
const KEEPALIVE_S: i32 = 10;
const KEEPALIVES: u32 = 6;

/// A connection to one libvirt driver. One that the driver's daemon has cut is opened anew.
pub struct Libvirt {
    // Closed before the embedded driver's root is given back.
    connect: Mutex<Connect>,
    uri: OpenedUri,
    _root: Option<File>,
}

/// A driver as it is named to people, and as libvirt is told.
struct OpenedUri {
    named: String,
    told: String,
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
        let (told, root) = if address.uri == embed::URI {
            (format!("{}?root={}", embed::URI, embed_root.display()), Some(embed::prepare(embed_root)?))
        } else {
            (libvirt_address::uri(address, folder)?, None)
        };
        start_event_loop()?;
        let uri = OpenedUri { named: address.uri.clone(), told };
        let connect = Mutex::new(connect(&uri)?);
        Ok(Self { connect, uri, _root: root })
    }

    /// Versions by name: `libvirt`, and the driver's own program.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when the driver does not tell.
    pub fn versions(&self) -> Result<Vec<(String, String)>, TargetError> {
        let text =
            |version: u32| format!("{}.{}.{}", version / 1_000_000, version / 1000 % 1000, version % 1000);
        let library = self.ask("read the version", Connect::lib_version)?;
        let driver = self.ask("read the driver's name", Connect::driver_type)?;
        let hypervisor = self.ask("read the driver's version", Connect::hyp_version)?;
        Ok(vec![("libvirt".into(), text(library)), (driver.to_lowercase(), text(hypervisor))])
    }

    /// Defines a persistent domain.
    ///
    /// # Errors
    /// [`TargetError::DomainExists`] when another domain has its name, [`TargetError::Libvirt`] with libvirt's own words.
    pub fn define(&self, xml: &str) -> Result<(), TargetError> {
        let new = Identity::of(xml)?;
        let named = self.ask("look up a domain", |connect| {
            lookup(connect, &new.name)?.map(|domain| domain.uuid_string()).transpose()
        })?;
        if named.is_some_and(|uuid| uuid != new.uuid) {
            return Err(TargetError::DomainExists { name: new.name });
        }
        self.ask(&format!("define domain {}", new.name), |connect| {
            connect.define_domain_xml_flags(xml, sys::VIR_DOMAIN_DEFINE_VALIDATE).map(drop)
        })
    }

    /// Starts a domain; one that runs already is a success.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] with libvirt's own words.
    pub fn start(&self, name: &str) -> Result<(), TargetError> {
        let what = format!("start domain {name}");
        let started = self.ask(&what, |connect| {
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
        self.ask(&format!("stop domain {name}"), |connect| {
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
        self.ask(&format!("undefine domain {name}"), |connect| {
            let Some(domain) = ours(connect, name)? else { return Ok(()) };
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
        })
    }

    /// Whether the domain runs; false when it does not exist.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when libvirt does not answer.
    pub fn is_active(&self, name: &str) -> Result<bool, TargetError> {
        self.ask(&format!("look at domain {name}"), |connect| {
            lookup(connect, name)?.map_or(Ok(false), |domain| domain.is_active())
        })
    }

    /// Every domain that carries our tag.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when libvirt does not answer.
    pub fn ours(&self) -> Result<Vec<OurDomain>, TargetError> {
        let all = self.ask("list domains", |connect| connect.list_all_domains(0))?;
        Ok(all.iter().filter_map(tagged).collect())
    }

    /// Calls libvirt, and once more over a new connection when the old one turns out to have been cut: `call` must come
    /// to the same when it is done twice.
    fn ask<T>(&self, what: &str, call: impl Fn(&Connect) -> Result<T, Error>) -> Result<T, TargetError> {
        let kept = || self.connect.lock().unwrap_or_else(PoisonError::into_inner);
        let mut used = kept().clone();
        let mut result = call(&used);
        if result.is_err() && !is_alive(&used) {
            let mut current = kept();
            // Another thread may have done so meanwhile.
            if !is_alive(&current) {
                *current = reconnect(&self.uri)?;
            }
            used = current.clone();
            drop(current);
            result = call(&used);
        }
        result.map_err(|e| failed(what, &e))
    }
}

/// Opens a connection on a thread of its own, which is left behind when nobody answers.
fn connect(uri: &OpenedUri) -> Result<Connect, TargetError> {
    let what = format!("open {}", uri.named);
    let (sender, receiver) = mpsc::sync_channel(1);
    let told = uri.told.clone();
    std::thread::Builder::new()
        .name("libvirt opening".into())
        .spawn(move || {
            // Nobody waits any more: the connection is closed again.
            let _ = sender.send(Connect::open(Some(&told)));
        })
        .map_err(TargetError::io("start a thread"))?;
    let connect = match receiver.recv_timeout(OPENING) {
        Ok(result) => result.map_err(|e| failed(&what, &e))?,
        Err(_) => return Err(TargetError::Deadline { what }),
    };
    // Drivers without a connection below them have nothing to keep alive.
    let _ = connect.set_keep_alive(KEEPALIVE_S, KEEPALIVES);
    Ok(connect)
}

/// Opens a connection again; a daemon that was restarted needs a moment.
fn reconnect(uri: &OpenedUri) -> Result<Connect, TargetError> {
    let deadline = Instant::now() + RESTART;
    loop {
        match connect(uri) {
            Err(_) if Instant::now() < deadline => std::thread::sleep(RESTART / 10),
            result => return result,
        }
    }
}

fn is_alive(connect: &Connect) -> bool {
    connect.is_alive().unwrap_or(false)
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

fn failed(what: impl Into<String>, error: &Error) -> TargetError {
    TargetError::Libvirt { what: what.into(), message: error.message().to_string() }
}

/// Starts the event loop that libvirt's drivers need, once for the life of the process.
fn start_event_loop() -> Result<(), TargetError> {
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    let started = STARTED.get_or_init(|| {
        virt::error::clear_error_callback();
        virt::event::event_register_default_impl().map_err(|e| e.message().to_string())?;
        std::thread::Builder::new()
            .name("libvirt events".into())
            .spawn(|| {
                loop {
                    if virt::event::event_run_default_impl().is_err() {
                        std::thread::sleep(Duration::from_millis(100));
                    }
                }
            })
            .map(drop)
            .map_err(|e| e.to_string())
    });
    let what = || "start the event loop".to_string();
    started.clone().map_err(|message| TargetError::Libvirt { what: what(), message })
}
