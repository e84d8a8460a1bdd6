//! What serves a volume to a guest, and what it then really is.
//!
//! Owns the choice of backend. It must never claim a cache or I/O mode that was only asked for: libvirt's Xen driver
//! has neither, and each backend has its own.

use crossvisor_plugin::Failure;
use crossvisor_plugin::model::{Volume, VolumeSource};

use crate::variant::Mode;

/// A volume as a domain gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Disk {
    /// libvirt's name of the driver.
    pub driver: &'static str,
    /// The volume with what really serves it.
    pub used: Volume,
}

/// Chooses what serves a volume.
///
/// # Errors
/// [`Failure`] for a format or backend that Xen does not have for it.
pub fn disk(mode: Mode, volume: &Volume) -> Result<Disk, Failure> {
    let block = matches!(volume.source, VolumeSource::Block(_));
    let asked = volume.backend.as_deref().unwrap_or(if block { "phy" } else { "qdisk" });
    let driver = match asked {
        "phy" if block && volume.format == "raw" => "phy",
        "qdisk" if matches!(volume.format.as_str(), "raw" | "qcow2") => "qemu",
        _ => return Err(refused(asked, volume)),
    };
    // The emulated disk is the device model's own: it opens a block device like a file, through the page cache.
    let (backend, modes) = match (mode, driver) {
        (Mode::HvmEmulated, _) => ("qemu", Some(("writeback", "threads"))),
        (_, "phy") => ("phy", None),
        _ => ("qdisk", Some(("writeback", "threads"))),
    };
    let used = Volume {
        cache: modes.map(|(cache, _)| cache.into()),
        io: modes.map(|(_, io)| io.into()),
        backend: Some(backend.into()),
        ..volume.clone()
    };
    Ok(Disk { driver, used })
}

fn refused(backend: &str, volume: &Volume) -> Failure {
    let (VolumeSource::File(path) | VolumeSource::Block(path)) = &volume.source;
    let (path, format) = (path.display(), &volume.format);
    Failure::new(match backend {
        "tap" => format!(
            "volume {path}: this toolstack has no blktap, Xen's libxl knows the backend 'tap' only by name: \
             use the backend 'qdisk'"
        ),
        "phy" => format!(
            "volume {path}: the backend 'phy' serves raw block devices, not a file or format '{format}': \
             use the backing 'loop', or the backend 'qdisk'"
        ),
        "qdisk" => format!("volume {path}: the backend 'qdisk' serves raw and qcow2 here, not '{format}'"),
        other => format!("volume {path}: Xen has no backend '{other}': use 'phy' or 'qdisk'"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(mode: Mode, source: &VolumeSource, backend: Option<&str>) -> (&'static str, String) {
        let asked = Volume {
            cache: Some("none".into()),
            io: Some("native".into()),
            backend: backend.map(String::from),
            ..Volume::new(source.clone(), "raw")
        };
        let disk = disk(mode, &asked).expect("served");
        let word = |word: &Option<String>| word.clone().unwrap_or("-".into());
        let Volume { cache, io, backend, .. } = &disk.used;
        (disk.driver, [backend, cache, io].map(word).join(" "))
    }

    #[test]
    fn what_is_said_is_what_serves_it_and_not_what_was_asked_for() {
        let file = VolumeSource::File("/v".into());
        let block = VolumeSource::Block("/dev/vg/v".into());
        let emulated = || "qemu writeback threads".to_string();
        for mode in [Mode::Pv, Mode::Pvh, Mode::HvmPv] {
            assert_eq!(used(mode, &file, None), ("qemu", "qdisk writeback threads".into()));
            assert_eq!(used(mode, &block, None), ("phy", "phy - -".into()));
            assert_eq!(used(mode, &block, Some("qdisk")), ("qemu", "qdisk writeback threads".into()));
        }
        assert_eq!(used(Mode::HvmEmulated, &file, None), ("qemu", emulated()));
        assert_eq!(used(Mode::HvmEmulated, &block, Some("phy")), ("phy", emulated()));
    }

    #[test]
    fn a_backend_that_cannot_serve_the_volume_is_refused() {
        let file = VolumeSource::File("/v".into());
        for (format, backend, word) in [
            ("raw", "tap", "no blktap"),
            ("raw", "phy", "use the backing 'loop'"),
            ("raw", "nbd", "no backend 'nbd'"),
            ("vmdk", "qdisk", "not 'vmdk'"),
        ] {
            let volume = Volume { backend: Some(backend.into()), ..Volume::new(file.clone(), format) };
            let failure = disk(Mode::Pv, &volume).expect_err(backend);
            assert!(failure.message.contains(word), "{failure}");
        }
        let qcow2_on_a_device = Volume::new(VolumeSource::Block("/dev/x".into()), "qcow2");
        assert!(disk(Mode::Pv, &qcow2_on_a_device).is_err());
    }
}
