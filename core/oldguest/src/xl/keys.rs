//! The keys of xm and xl, and what becomes of each.
//!
//! Owns the table. It must never look at a value.

use crate::lost::{KVM, SCENARIOS};

/// What a key means for the guest here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The guest has it.
    Read,
    /// Nothing that is measured depends on it.
    Plain,
    /// It is lost where it is on.
    Lost(&'static str, &'static str),
}
use Effect::{Lost, Plain, Read};

const NO_DEVICE: &str = "guests have no devices of the host";
const WEIGHT: &str = "all guests have the same weight: 'cpus' and 'pin' share CPUs out";
const SCREEN: &str = "guests have a serial console alone";
const CPUID: &str = "guests see the processor that the hypervisor shows by default";
const CLOCK: &str = "guests have the hypervisor's own clock";
const ADDRESS: &str = "guests take their address from the host's network";
const NESTED: &str = "guests of a Xen host cannot be hosts";
const FIRMWARE: &str = "the kernel of the guest image is started directly";
const MODEL: &str = "the host's own device model is used";

/// Every key that xm or xl reads, in the order of the alphabet.
const KEYS: [(&str, Effect); 157] = [
    ("access_control", Lost(SCENARIOS, "guests have no label")),
    ("acpi", Plain),
    ("acpi_firmware", Lost(SCENARIOS, FIRMWARE)),
    ("acpi_laptop_slate", Plain),
    ("acpi_s3", Plain),
    ("acpi_s4", Plain),
    ("address", Lost(SCENARIOS, "there is no relocation")),
    ("altp2m", Lost(SCENARIOS, CPUID)),
    ("altp2mhvm", Lost(SCENARIOS, CPUID)),
    ("apic", Plain),
    ("arch", Plain),
    ("autoballoon", Plain),
    ("bios", Lost(SCENARIOS, FIRMWARE)),
    ("bios_path_override", Lost(SCENARIOS, FIRMWARE)),
    ("blkif", Lost(SCENARIOS, "dom0 serves all devices")),
    ("boot", Read),
    ("bootargs", Plain),
    ("bootloader", Read),
    ("bootloader_args", Lost(SCENARIOS, "boot loaders get no arguments")),
    ("broadcast", Plain),
    ("builder", Read),
    ("cap", Lost(SCENARIOS, "there is no cap of CPU time: results were capped before")),
    ("channel", Lost(SCENARIOS, NO_DEVICE)),
    ("claim_mode", Plain),
    ("cmdline", Read),
    ("console", Plain),
    ("cpu", Read),
    ("cpu_cap", Lost(SCENARIOS, "there is no cap of CPU time: results were capped before")),
    ("cpu_weight", Lost(SCENARIOS, WEIGHT)),
    ("cpuid", Lost(SCENARIOS, CPUID)),
    ("cpuid_check", Lost(SCENARIOS, CPUID)),
    ("cpus", Read),
    ("cpus_soft", Lost(SCENARIOS, "'cpus' sets where vcpus may run, not where they had better")),
    ("device_model", Plain),
    ("device_model_args", Lost(SCENARIOS, MODEL)),
    ("device_model_args_hvm", Lost(SCENARIOS, MODEL)),
    ("device_model_args_pv", Lost(SCENARIOS, MODEL)),
    ("device_model_override", Plain),
    ("device_model_stubdomain_override", Lost(SCENARIOS, "the device model runs in dom0")),
    ("device_model_user", Plain),
    ("device_model_version", Plain),
    ("device_tree", Lost(SCENARIOS, NO_DEVICE)),
    ("dhcp", Plain),
    ("disk", Read),
    ("display", Plain),
    ("driver_domain", Lost(SCENARIOS, "dom0 serves all devices")),
    ("dtdev", Lost(SCENARIOS, NO_DEVICE)),
    ("e820_host", Plain),
    ("extra", Read),
    ("extratime", Plain),
    ("features", Plain),
    ("firmware", Read),
    ("firmware_override", Lost(SCENARIOS, FIRMWARE)),
    ("gateway", Lost(SCENARIOS, ADDRESS)),
    ("gfx_passthru", Lost(SCENARIOS, NO_DEVICE)),
    ("guest_os_type", Plain),
    ("hap", Plain),
    ("hdtype", Plain),
    ("hostname", Plain),
    ("hpet", Plain),
    ("hptimer", Plain),
    ("init_seclabel", Plain),
    ("interface", Plain),
    ("ioapic", Plain),
    ("iomem", Lost(SCENARIOS, NO_DEVICE)),
    ("ioports", Lost(SCENARIOS, NO_DEVICE)),
    ("ip", Lost(SCENARIOS, ADDRESS)),
    ("irq", Lost(SCENARIOS, NO_DEVICE)),
    ("irqs", Lost(SCENARIOS, NO_DEVICE)),
    ("isa", Plain),
    ("kernel", Read),
    ("keymap", Plain),
    ("latency", Plain),
    ("loader", Plain),
    ("localtime", Plain),
    ("loglvl", Plain),
    ("machine_address_size", Plain),
    ("max_event_channels", Plain),
    ("max_grant_frames", Plain),
    ("max_maptrack_frames", Plain),
    ("maxmem", Read),
    ("maxvcpus", Read),
    ("mca_caps", Plain),
    ("memory", Read),
    ("mmio_hole", Plain),
    ("monitor", Plain),
    ("ms_vm_genid", Plain),
    ("name", Read),
    ("nestedhvm", Lost(SCENARIOS, NESTED)),
    ("netif", Lost(SCENARIOS, "dom0 serves all devices")),
    ("netmask", Plain),
    ("nfs_root", Lost(SCENARIOS, "a guest's root is on a disk of its own")),
    ("nfs_server", Lost(SCENARIOS, "a guest's root is on a disk of its own")),
    ("nics", Plain),
    ("nographic", Plain),
    ("nomigrate", Plain),
    ("numa_placement", Plain),
    ("nx", Plain),
    ("on_crash", Plain),
    ("on_poweroff", Plain),
    ("on_reboot", Plain),
    ("on_soft_reset", Plain),
    ("on_watchdog", Plain),
    ("on_xend_start", Plain),
    ("on_xend_stop", Plain),
    ("oos", Plain),
    ("opengl", Plain),
    ("p9", Lost(SCENARIOS, "guests share no folders")),
    ("pae", Plain),
    ("parallel", Plain),
    ("passthrough", Plain),
    ("pci", Lost(SCENARIOS, NO_DEVICE)),
    ("pci_msitranslate", Plain),
    ("pci_permissive", Plain),
    ("pci_power_mgmt", Plain),
    ("pci_seize", Plain),
    ("period", Plain),
    ("pool", Lost(SCENARIOS, "guests are in the host's first pool of CPUs")),
    ("pvshim", Lost(KVM, "a PV guest in a PVH container is Xen's alone")),
    ("ramdisk", Read),
    ("rdm", Plain),
    ("restore", Plain),
    ("root", Read),
    ("rtc_timeoffset", Plain),
    ("s3_integrity", Plain),
    ("sdl", Lost(SCENARIOS, SCREEN)),
    ("seclabel", Lost(SCENARIOS, "guests have no label")),
    ("serial", Plain),
    ("shadow_memory", Plain),
    ("slice", Plain),
    ("smbios_firmware", Lost(SCENARIOS, FIRMWARE)),
    ("soundhw", Lost(SCENARIOS, "guests have no sound card")),
    ("spice", Lost(SCENARIOS, SCREEN)),
    ("stdvga", Plain),
    ("superpages", Plain),
    ("suppress_spurious_page_faults", Plain),
    ("target", Plain),
    ("timer_mode", Lost(SCENARIOS, CLOCK)),
    ("tsc_mode", Lost(SCENARIOS, CLOCK)),
    ("type", Read),
    ("usb", Lost(SCENARIOS, "guests have no USB")),
    ("usbctrl", Lost(SCENARIOS, "guests have no USB")),
    ("usbdev", Lost(SCENARIOS, "guests have no USB")),
    ("usbdevice", Lost(SCENARIOS, "guests have no USB")),
    ("uuid", Read),
    ("vcpus", Read),
    ("vfb", Lost(SCENARIOS, SCREEN)),
    ("vga", Plain),
    ("vif", Read),
    ("viridian", Lost(SCENARIOS, "Hyper-V's interfaces are for Windows, which no guest image is")),
    ("vnc", Lost(SCENARIOS, SCREEN)),
    ("vnuma", Read),
    ("vpt_align", Plain),
    ("vscsi", Lost(SCENARIOS, NO_DEVICE)),
    ("vtpm", Lost(SCENARIOS, "guests have no TPM")),
    ("xauthority", Plain),
    ("xen_platform_pci", Plain),
];
/// Keys that come in families.
const FAMILIES: [&str; 8] = ["OVM_", "spice", "vnc", "sdl", "videoram", "pvshim_", "ib_", "vcpus_"];

/// What becomes of a key; `None`: neither xm nor xl knows it.
pub(super) fn effect(key: &str) -> Option<Effect> {
    let found = KEYS.iter().find(|(known, _)| *known == key).map(|(_, effect)| *effect);
    found.or_else(|| FAMILIES.iter().any(|family| key.starts_with(family)).then_some(Plain))
}

/// The key that was perhaps meant.
pub(super) fn nearest(key: &str) -> Option<&'static str> {
    /// Keys of other tools and old habits, by what does it here.
    const HABITS: [(&str, &str); 8] = [
        ("vcpu", "vcpus"),
        ("initrd", "ramdisk"),
        ("cdrom", "disk"),
        ("mem", "memory"),
        ("maxmemory", "maxmem"),
        ("maxcpus", "maxvcpus"),
        ("append", "extra"),
        ("nic", "vif"),
    ];
    let lower = key.to_ascii_lowercase();
    let habit = HABITS.iter().find(|(word, _)| *word == lower).map(|(_, key)| *key);
    let close = |known: &&str| strsim::damerau_levenshtein(known, &lower) <= 1 + usize::from(lower.len() > 5);
    habit.or_else(|| {
        let near = KEYS.iter().map(|(known, _)| *known).filter(close);
        near.min_by_key(|known| strsim::damerau_levenshtein(known, &lower))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_once_and_in_order() {
        assert!(KEYS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_slip_has_its_key() {
        for (key, meant) in
            [("vcpu", "vcpus"), ("initrd", "ramdisk"), ("maxcpus", "maxvcpus"), ("Memory", "memory")]
        {
            assert_eq!(nearest(key), Some(meant), "{key}");
        }
        assert_eq!(nearest("my_own_note"), None);
        assert_eq!((effect("vnclisten"), effect("my_own_note")), (Some(Plain), None));
    }
}
