//! `crossvisor doctor`: what hosts have and lack.

use std::io::{self, Write};
use std::path::PathBuf;

use crossvisor_engine::doctor::{examine, Finding, Health};
use crossvisor_engine::{KeptHost, Settings};
use crossvisor_model::{HostAddress, HostSpec, Name};
use crossvisor_target::Cancel;

use crate::arguments::Doctor;
use crate::exit::{Exit, Failure};
use crate::inventory::Inventory;
use crate::output::{self, long_line};
use crate::{libvirt_log, planned};

/// # Errors
/// [`Failure`] when the scenario is wrong; what a host lacks is no failure but the answer.
pub fn execute(asked: &Doctor, plugins: Vec<(Name, PathBuf)>) -> Result<Exit, Failure> {
    let settings = Settings::from_environment();
    libvirt_log::to_file(&settings.state);
    let inventory = Inventory::find(plugins)?;
    let mut worst = Health::Good;
    for (name, address) in hosts(asked, &settings, &inventory)? {
        let findings = examine(&name, &address, &settings, &inventory.loaded.plugins, &Cancel::default());
        output::show(|out| text(&name, &address, &findings, out))?;
        worst = findings.iter().map(|finding| finding.health).fold(worst, Health::max);
    }
    Ok(if worst == Health::Bad { Exit::Environment } else { Exit::Good })
}

/// The hosts that are meant; those that a run would make are not there to be looked at.
fn hosts(
    asked: &Doctor,
    settings: &Settings,
    inventory: &Inventory,
) -> Result<Vec<(Name, HostAddress)>, Failure> {
    let Some(scenario) = &asked.scenario else {
        let here = vec!["qemu:///embed".to_string()];
        let uris = if asked.host.is_empty() { &here } else { &asked.host };
        let address = |uri: &String| HostAddress {
            uri: uri.clone(),
            ssh_config: asked.ssh_config.clone(),
            bridge: asked.bridge.clone(),
        };
        let named =
            (1..).zip(uris).map(|(number, uri)| Ok((Name::new(format!("host-{number}"))?, address(uri))));
        return named.collect();
    };
    let mut hosts = Vec::new();
    for (name, spec) in planned::read(scenario, inventory)?.plan.hosts {
        match spec {
            HostSpec::Reached(address) => hosts.push((name, address)),
            HostSpec::Kept { up } => hosts.push((name, KeptHost::find(settings, &up)?.address)),
            HostSpec::Made(guest) => {
                output::say(&format!(
                    "{name} is made of '{}' by the run: nothing to look at yet",
                    guest.guest
                ));
            }
        }
    }
    Ok(hosts)
}

fn text(name: &Name, address: &HostAddress, findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{name}  {}", long_line(&address.uri))?;
    let width = findings.iter().map(|finding| finding.what.len()).max().unwrap_or_default();
    for Finding { what, health, found, mend } in findings {
        let mark = match health {
            Health::Good => "ok  ",
            Health::Poor => "weak",
            Health::Bad => "BAD ",
        };
        writeln!(out, "  {mark}  {what:width$}  {}", long_line(found))?;
        if !mend.is_empty() {
            writeln!(out, "        {:width$}  -> {mend}", "")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_comes_with_what_to_do() {
        let finding = |what: &str, health, mend: &str| Finding {
            what: what.into(),
            health,
            found: "as it is".into(),
            mend: mend.into(),
        };
        let findings = [finding("libvirt", Health::Good, ""), finding("lvm", Health::Poor, "install it")];
        let mut out = Vec::new();
        let name = Name::new("rack").expect("name");
        text(&name, &HostAddress::new("xen:///system"), &findings, &mut out).expect("memory");
        let expected = "rack  xen:///system\n  ok    libvirt  as it is\n  weak  lvm      as it is\n                 -> install it\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
