//! Hypervisor `xen`: domains of libvirt's Xen driver, by what they see of Xen.
//!
//! Owns what the plugin says of itself. It must never talk to libvirt or Xen itself.

mod define;
mod disk;
mod info;
mod stage;
#[cfg(test)]
mod testing;
mod variant;
mod xml;

use crossvisor_plugin::model::{Kind, Manifest, Name, NameError, Offer, OptionKind, OptionSpec};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{DefineInput, Failure, Hypervisor, Resume, StageInput, Turn, cpus};

use serde_json::json;
use variant::{LOADER, VARIANTS, Variant};

/// The plugin.
pub struct Xen;

crossvisor_plugin::plugin!(hypervisor_xen, hypervisor, Xen);

impl Hypervisor for Xen {
    fn manifest(&self) -> Manifest {
        manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn stage(&self, chosen: &Chosen, input: &StageInput, resume: &Resume) -> Result<Turn, Failure> {
        stage::stage(chosen, variant(chosen)?.mode, input, resume)
    }

    fn define(&self, chosen: &Chosen, input: &DefineInput, _: &Resume) -> Result<Turn, Failure> {
        define::define(chosen, variant(chosen)?, &input.domain)
    }
}

fn variant(chosen: &Chosen) -> Result<&'static Variant, Failure> {
    let offer = chosen.offer.as_str();
    let found = VARIANTS.iter().find(|variant| variant.offer == offer);
    found.ok_or_else(|| Failure::new(format!("hypervisor-xen has no variant '{offer}'")))
}

fn manifest() -> Result<Manifest, NameError> {
    let offers = VARIANTS.iter().map(|variant| {
        Ok(Offer {
            options: options(variant),
            host_programs: vec!["xl".into()],
            stages: true,
            own_boot: variant.own_boot,
            drivers: vec!["xen".into()],
            ..Offer::new(Name::new(variant.offer)?, variant.summary)
        })
    });
    Ok(Manifest {
        name: Name::new("hypervisor-xen")?,
        version: env!("CARGO_PKG_VERSION").into(),
        kind: Kind::Hypervisor,
        summary: "Xen through libvirt".into(),
        offers: offers.collect::<Result<_, _>>()?,
    })
}

fn options(variant: &Variant) -> Vec<OptionSpec> {
    let mut options = cpus::options();
    options.extend([
        OptionSpec::new("dom0-cpus", OptionKind::Text, None, "CPUs that dom0 runs on during the run: 0"),
        OptionSpec::new(
            "dom0-vcpus",
            OptionKind::Integer { min: 1, max: 4096 },
            None,
            "vcpus that dom0 has during the run",
        ),
    ]);
    if variant.own_boot {
        let of = ["pygrub", "pvgrub"].map(String::from).to_vec();
        let help =
            "pygrub: a program of dom0 reads the disk; pvgrub: GRUB runs in the guest (/usr/lib/grub-xen)";
        options.push(OptionSpec::new(LOADER, OptionKind::Choice { of }, json!("pygrub"), help));
    }
    options
}
