//! The variants: how a guest sees Xen.
//!
//! Owns the table of them. It must never write XML.

/// One way to run a guest under Xen.
pub struct Variant {
    pub offer: &'static str,
    pub summary: &'static str,
    pub mode: Mode,
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

pub const VARIANTS: [Variant; 4] = [
    Variant {
        offer: "xen-pv",
        summary: "paravirtualised: no hardware virtualisation, PV disk and network",
        mode: Mode::Pv,
    },
    Variant {
        offer: "xen-pvh",
        summary: "PVH: hardware virtualisation without an emulated machine, PV disk and network",
        mode: Mode::Pvh,
    },
    Variant {
        offer: "xen-hvm",
        summary: "HVM with emulated IDE disk and Intel e1000 network card, as guests without PV drivers need",
        mode: Mode::HvmEmulated,
    },
    Variant {
        offer: "xen-hvm-pv",
        summary: "HVM whose guest unplugs the emulated devices and uses PV disk and network",
        mode: Mode::HvmPv,
    },
];

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
