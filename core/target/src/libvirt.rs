//! Domains through libvirt.
//!
//! Owns the connection and the one event loop of this process. It must never touch a domain that it was not
//! named, and names come only from the engine or from domains that carry our tag.

use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use crossvisor_model::domain::TAG_NAMESPACE;
use virt::connect::Connect;
use virt::domain::Domain;
use virt::error::{Error, ErrorNumber};
use virt::sys;

use crate::{TargetError, embed};

/// A connection to one libvirt driver.
pub struct Libvirt {
    // Closed before the embedded driver's root is given back.
    connect: Connect,
    _root: Option<File>,
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
    /// Connects. `qemu:///embed` is given the root folder `embed_root`, which is prepared first.
    ///
    /// # Errors
    /// [`TargetError::Uri`] for a driver on another machine or of another kind, [`TargetError::Libvirt`] when
    /// the connection fails.
    pub fn open(uri: &str, embed_root: &Path) -> Result<Self, TargetError> {
        let (uri, root) = match uri {
            embed::URI => (format!("{uri}?root={}", embed_root.display()), Some(embed::prepare(embed_root)?)),
            "qemu:///system" | "qemu:///session" | "test:///default" => (uri.to_string(), None),
            _ => return Err(TargetError::Uri(uri.into())),
        };
        start_event_loop()?;
        let connect = Connect::open(Some(&uri)).map_err(|e| failed(format!("open {uri}"), &e))?;
        Ok(Self { connect, _root: root })
    }

    /// Versions by name: `libvirt`, and the driver's own program.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when the driver does not tell.
    pub fn versions(&self) -> Result<Vec<(String, String)>, TargetError> {
        let text =
            |version: u32| format!("{}.{}.{}", version / 1_000_000, version / 1000 % 1000, version % 1000);
        let library = self.connect.lib_version().map_err(|e| failed("read the version", &e))?;
        let driver = self.connect.driver_type().map_err(|e| failed("read the driver's name", &e))?;
        let hypervisor = self.connect.hyp_version().map_err(|e| failed("read the driver's version", &e))?;
        Ok(vec![("libvirt".into(), text(library)), (driver.to_lowercase(), text(hypervisor))])
    }

    /// Defines a persistent domain.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] with libvirt's own words.
    pub fn define(&self, xml: &str) -> Result<(), TargetError> {
        let flags = sys::VIR_DOMAIN_DEFINE_VALIDATE;
        let defined = self.connect.define_domain_xml_flags(xml, flags);
        defined.map(drop).map_err(|e| failed("define a domain", &e))
    }

    /// # Errors
    /// [`TargetError::Libvirt`] with libvirt's own words.
    pub fn start(&self, name: &str) -> Result<(), TargetError> {
        let what = || format!("start domain {name}");
        let domain = self
            .lookup(name)?
            .ok_or_else(|| TargetError::Libvirt { what: what(), message: "it is not defined".into() })?;
        domain.create().map_err(|e| failed(what(), &e))
    }

    /// Ends a domain at once; one that does not run or does not exist is a success.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when it still runs afterwards.
    pub fn stop(&self, name: &str) -> Result<(), TargetError> {
        let Some(domain) = self.lookup(name)? else { return Ok(()) };
        match domain.destroy() {
            Ok(()) => Ok(()),
            Err(_) if !domain.is_active().unwrap_or(true) => Ok(()),
            Err(e) => Err(failed(format!("stop domain {name}"), &e)),
        }
    }

    /// Forgets a domain with all that libvirt keeps beside its definition; one that does not exist is a success.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when it is still defined afterwards.
    pub fn undefine(&self, name: &str) -> Result<(), TargetError> {
        let Some(domain) = self.lookup(name)? else { return Ok(()) };
        let all = sys::VIR_DOMAIN_UNDEFINE_MANAGED_SAVE
            | sys::VIR_DOMAIN_UNDEFINE_SNAPSHOTS_METADATA
            | sys::VIR_DOMAIN_UNDEFINE_CHECKPOINTS_METADATA
            | sys::VIR_DOMAIN_UNDEFINE_NVRAM;
        domain.undefine_flags(all).map_err(|e| failed(format!("undefine domain {name}"), &e))
    }

    /// Whether the domain runs; false when it does not exist.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when libvirt does not answer.
    pub fn is_active(&self, name: &str) -> Result<bool, TargetError> {
        let Some(domain) = self.lookup(name)? else { return Ok(false) };
        domain.is_active().map_err(|e| failed(format!("look at domain {name}"), &e))
    }

    /// Every domain that carries our tag.
    ///
    /// # Errors
    /// [`TargetError::Libvirt`] when libvirt does not answer.
    pub fn ours(&self) -> Result<Vec<OurDomain>, TargetError> {
        let all = self.connect.list_all_domains(0).map_err(|e| failed("list domains", &e))?;
        Ok(all.iter().filter_map(tagged).collect())
    }

    fn lookup(&self, name: &str) -> Result<Option<Domain>, TargetError> {
        match self.connect.lookup_domain_by_name(name) {
            Ok(domain) => Ok(Some(domain)),
            Err(e) if e.code() == ErrorNumber::NoDomain.into() => Ok(None),
            Err(e) => Err(failed(format!("look up domain {name}"), &e)),
        }
    }
}

/// The domain as ours; `None` without our tag, or when it vanished meanwhile.
fn tagged(domain: &Domain) -> Option<OurDomain> {
    let kind = i32::try_from(sys::VIR_DOMAIN_METADATA_ELEMENT).ok()?;
    let tag = domain.metadata(kind, Some(TAG_NAMESPACE), 0).ok()?;
    let tag = roxmltree::Document::parse(&tag).ok()?;
    let run = tag.root_element().attribute("run")?.to_string();
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
