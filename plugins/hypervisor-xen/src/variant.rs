//! The variants: how a guest sees Xen.
//!
//! Owns the table of them. It must never write XML.

use crossvisor_plugin::Failure;
use crossvisor_plugin::sdk::Chosen;

/// The option that chooses a boot loader.
pub const LOADER: &str = "loader";

/// One way to run a guest under Xen.
pub struct Variant {
    pub offer: &'static str,
    pub summary: &'static str,
    pub mode: Mode,
    /// Whether a boot loader finds its kernel on its disk.
    pub own_boot: bool,
}

/// What reads a guest's disk for its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// A program of dom0 that reads GRUB's configuration on the disk before the guest starts.
    Pygrub,
    /// GRUB itself, as the guest's first kernel.
    Pvgrub,
}

/// What Xen gives the guest for a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Pv,
    Pvh,
    /// With an emulated machine around it, whose disk and network card the guest keeps.
    HvmEmulated,
    /// The same machine, but the guest takes the PV drivers instead.
    HvmPv,
}

pub const VARIANTS: [Variant; 5] = [
    Variant {
        offer: "xen-pv",
        summary: "paravirtualised: no hardware virtualisation, PV disk and network",
        mode: Mode::Pv,
        own_boot: false,
    },
    Variant {
        offer: "xen-pv-grub",
        summary: "xen-pv whose kernel is found on the guest's own disk by a boot loader",
        mode: Mode::Pv,
        own_boot: true,
    },
    Variant {
        offer: "xen-pvh",
        summary: "PVH: hardware virtualisation without an emulated machine, PV disk and network",
        mode: Mode::Pvh,
        own_boot: false,
    },
    Variant {
        offer: "xen-hvm",
        summary: "HVM with emulated IDE disk and Intel e1000 network card, as guests without PV drivers need",
        mode: Mode::HvmEmulated,
        own_boot: false,
    },
    Variant {
        offer: "xen-hvm-pv",
        summary: "HVM whose guest unplugs the emulated devices and uses PV disk and network",
        mode: Mode::HvmPv,
        own_boot: false,
    },
];

impl Variant {
    /// The boot loader of a guest with such options; none where the kernel is started directly.
    ///
    /// # Errors
    /// [`Failure`] for one that does not exist.
    pub fn loader(&self, chosen: &Chosen) -> Result<Option<Loader>, Failure> {
        match chosen.word(LOADER) {
            _ if !self.own_boot => Ok(None),
            None | Some("pygrub") => Ok(Some(Loader::Pygrub)),
            Some("pvgrub") => Ok(Some(Loader::Pvgrub)),
            Some(other) => {
                Err(Failure::new(format!("option '{LOADER}' is 'pygrub' or 'pvgrub', not '{other}'")))
            }
        }
    }
}

impl Mode {
    /// Whether there is an emulated machine, and so a device model for each guest.
    pub fn is_hvm(self) -> bool {
        matches!(self, Self::HvmEmulated | Self::HvmPv)
    }

    /// Whether the host's processors must have hardware virtualisation.
    pub fn needs_hardware(self) -> bool {
        self != Self::Pv
    }

    /// What the guest's kernel is told of its machine.
    pub fn kernel_arguments(self) -> &'static str {
        match self {
            Self::Pv | Self::Pvh => "console=hvc0",
            // It keeps the emulated devices, and the PV drivers keep away.
            Self::HvmEmulated => "console=ttyS0 xen_emul_unplug=never",
            Self::HvmPv => "console=ttyS0",
        }
    }
}
