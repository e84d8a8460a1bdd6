//! Configuration of xm and xl: `/etc/xen/NAME`, `NAME.cfg`.
//!
//! Owns what the keys mean for a guest. It must never run the Python that a file of xm may be.

mod disk;
mod expression;
mod keys;
mod lexer;
mod pin;
mod settings;
mod statements;
mod value;
mod vif;
mod warn;

use crossvisor_model::Bytes;

use crate::guest::{Boot, BootKind, Format, NumaNode, OldGuest};
use crate::lost;
use crate::problem::{Place, Problems, Reading, quoted};
use settings::Settings;
use value::Value;

/// The longest text that is read, in bytes.
const LONGEST: usize = 4 << 20;
/// The most memory that a guest is taken to have, in MiB.
const MOST_MIB: u64 = 1 << 30;
/// The most vcpus.
const MOST_VCPUS: u64 = 4096;

/// Reads a configuration of xm or xl.
#[must_use]
pub fn xl(text: &str) -> Reading {
    let mut problems = Problems::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let guest = if text.len() > LONGEST {
        let message = format!("longer than {} MiB: no configuration of a guest is", LONGEST >> 20);
        problems.error(Place { line: 1, column: 1 }, message);
        None
    } else {
        let assignments = statements::assignments(text, &mut problems);
        guest(&mut Settings::new(assignments, &mut problems))
    };
    Reading { guest, problems: problems.sorted() }
}

fn guest(settings: &mut Settings) -> Option<OldGuest> {
    if !settings.has_known() {
        let at = Place { line: 1, column: 1 };
        settings
            .problems
            .error(at, "no configuration of xm or xl: expected lines like memory = 1024 or disk = [ '…' ]");
        return None;
    }
    let mut guest = OldGuest::new(Format::Xl, 1);
    guest.name = settings.text("name");
    if guest.name.is_none() {
        settings.problems.error(Place { line: 1, column: 0 }, "the guest has no name: xl refuses it");
    }
    guest.uuid = settings.text("uuid");
    guest.lines = settings.lines();
    guest.other = settings.others();
    vcpus(settings, &mut guest);
    memory(settings, &mut guest);
    let mode = mode(settings);
    guest.boot = boot(settings, mode);
    guest.disks =
        settings.texts("disk").iter().map(|(item, at)| disk::disk(item, *at, settings.problems)).collect();
    guest.nics =
        settings.texts("vif").iter().map(|(item, at)| vif::vif(item, *at, settings.problems)).collect();
    guest.pinning = pin::pinning(settings);
    guest.numa = numa(settings);
    guest.hypervisor = variant(mode, &guest);
    warn::warn(settings, mode, &guest);
    guest.lost = settings.lost();
    guest.lost.extend(lost::lost(&guest));
    Some(guest)
}

fn vcpus(settings: &mut Settings, guest: &mut OldGuest) {
    let most = |count: u64| u32::try_from(count.min(MOST_VCPUS)).unwrap_or(u32::MAX);
    guest.vcpus = settings.number("vcpus").map_or(1, most).max(1);
    guest.max_vcpus = settings.number("maxvcpus").map(most);
    if guest.max_vcpus.is_some_and(|most| most < guest.vcpus) {
        let at = settings.at("maxvcpus");
        settings.problems.error(at, "'maxvcpus' is below 'vcpus': xl refuses it");
    }
}

fn memory(settings: &mut Settings, guest: &mut OldGuest) {
    guest.memory = mebibytes(settings, "memory");
    guest.max_memory = mebibytes(settings, "maxmem");
    if settings.entry("memory").is_none() {
        let at = Place { line: 1, column: 0 };
        settings.problems.error(at, "the guest's memory is not said: write memory = 1024, in MiB");
    }
}

fn mebibytes(settings: &mut Settings, key: &str) -> Option<Bytes> {
    let mib = settings.number(key)?;
    if mib == 0 || mib > MOST_MIB {
        let at = settings.at(key);
        settings.problems.error(at, format!("'{key}' is {mib} MiB: no guest has that; left out"));
        return None;
    }
    Some(Bytes(mib * Bytes::MIB))
}

/// What Xen makes of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Pv,
    Pvh,
    Hvm,
}

fn mode(settings: &mut Settings) -> Mode {
    let asked = settings.text("type");
    let builder = settings.text("builder");
    let by_type = match asked.as_deref() {
        Some("hvm") => Some(Mode::Hvm),
        Some("pv") => Some(Mode::Pv),
        Some("pvh") => Some(Mode::Pvh),
        Some(other) => {
            let (at, other) = (settings.at("type"), quoted(other));
            settings.problems.error(at, format!("xl knows no type {other}: pv, pvh or hvm"));
            None
        }
        None => None,
    };
    let by_builder = match builder.as_deref() {
        Some("hvm") => Some(Mode::Hvm),
        Some("generic" | "linux") => Some(Mode::Pv),
        Some(other) => {
            let (at, other) = (settings.at("builder"), quoted(other));
            settings
                .problems
                .error(at, format!("neither xm nor xl knows a builder {other}: hvm, generic or linux"));
            None
        }
        None => None,
    };
    if let (Some(by_type), Some(by_builder)) = (by_type, by_builder) {
        if by_type != by_builder {
            let at = settings.at("builder");
            settings.problems.error(at, "'builder' and 'type' contradict each other: 'type' is taken");
        }
    }
    by_type.or(by_builder).unwrap_or(Mode::Pv)
}

fn boot(settings: &mut Settings, mode: Mode) -> Boot {
    let loader = settings.text("bootloader");
    let firmware = settings.text("firmware");
    let kernel = settings.text("kernel");
    let is_hvmloader = kernel.as_deref().is_some_and(|kernel| base(kernel) == "hvmloader");
    let mut boot = Boot {
        kind: BootKind::Other,
        initrd: settings.text("ramdisk"),
        cmdline: cmdline(settings),
        order: settings.text("boot"),
        loader: loader.clone(),
        kernel: kernel.clone().filter(|_| !is_hvmloader),
    };
    let pvgrub = |path: &str| matches!(base(path), name if name.starts_with("pv-grub") || name.starts_with("pvgrub") || (name.starts_with("grub-") && name.contains("xen")));
    boot.kind = match (&loader, &boot.kernel, &firmware) {
        (Some(loader), ..) if base(loader).starts_with("pygrub") => BootKind::Pygrub,
        (Some(loader), ..) if pvgrub(loader) => BootKind::Pvgrub,
        (Some(_), ..) => BootKind::Other,
        (None, Some(kernel), _) if pvgrub(kernel) => BootKind::Pvgrub,
        (None, None, Some(firmware)) if firmware.starts_with("pvgrub") => BootKind::Pvgrub,
        (None, Some(_), _) => BootKind::Kernel,
        (None, None, _) if mode == Mode::Hvm => BootKind::Firmware,
        (None, None, _) => BootKind::Other,
    };
    if boot.kind == BootKind::Pvgrub {
        boot.loader = boot.loader.or(boot.kernel.take()).or(firmware);
    } else if mode == Mode::Hvm && boot.kind == BootKind::Firmware {
        boot.loader = firmware.or(kernel);
    }
    boot
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `cmdline` alone, or `root` and `extra` together, as xl takes them.
fn cmdline(settings: &mut Settings) -> Option<String> {
    let (root, extra) = (settings.text("root"), settings.text("extra"));
    if let Some(cmdline) = settings.text("cmdline") {
        if root.is_some() || extra.is_some() {
            let at = settings.at("cmdline");
            settings.problems.warning(at, "'cmdline' is set: 'root' and 'extra' have no effect");
        }
        return Some(cmdline);
    }
    let root = root.map(|root| format!("root={root}"));
    let parts: Vec<String> = root.into_iter().chain(extra).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// `vnuma = [ [ "pnode=0", "size=2048", "vcpus=0-1", "vdistances=10,20" ], … ]`.
fn numa(settings: &mut Settings) -> Vec<NumaNode> {
    let mut nodes = Vec::new();
    for item in settings.list("vnuma") {
        let Value::List(parts) = item.value else {
            settings.problems.error(item.at, "a node of 'vnuma' is a list of texts: left out");
            continue;
        };
        let mut node = NumaNode::default();
        let texts = parts
            .iter()
            .filter_map(|part| if let Value::Text(text) = &part.value { Some(text) } else { None });
        for (key, value) in texts.filter_map(|text| text.split_once('=')) {
            let value = value.trim();
            match key.trim() {
                "size" => {
                    node.memory = value
                        .parse::<u64>()
                        .ok()
                        .filter(|mib| *mib <= MOST_MIB)
                        .map(|mib| Bytes(mib * Bytes::MIB))
                }
                "vcpus" => node.vcpus = value.into(),
                "vdistances" => {
                    node.distances =
                        value.split(',').filter_map(|number| number.trim().parse().ok()).collect();
                }
                _ => {}
            }
        }
        nodes.push(node);
    }
    nodes
}

/// The offer that comes closest. Whether an HVM guest has PV drivers its configuration does not say, but devices that
/// only they serve do.
fn variant(mode: Mode, guest: &OldGuest) -> &'static str {
    let by_loader = matches!(guest.boot.kind, BootKind::Pygrub | BootKind::Pvgrub);
    let pv_devices = guest.disks.iter().any(|disk| disk.device.starts_with("xvd") && disk.is_disk())
        || guest
            .nics
            .iter()
            .any(|nic| matches!(nic.kind.as_deref(), Some("netfront" | "vif" | "paravirtualised")));
    match mode {
        Mode::Pv if by_loader => "xen-pv-grub",
        Mode::Pv => "xen-pv",
        Mode::Pvh => "xen-pvh",
        Mode::Hvm if pv_devices => "xen-hvm-pv",
        Mode::Hvm => "xen-hvm",
    }
}
