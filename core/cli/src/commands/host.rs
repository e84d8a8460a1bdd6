//! `crossvisor host`: hosts that are guests of this machine and stay.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crossvisor_engine::{kept, KeepRequest, KeptHost, Settings};
use crossvisor_model::{Accel, Event, HostGuest, Name, Stamped};
use crossvisor_target::{quote, Cancel};

use crate::exit::Failure;
use crate::inventory::Inventory;
use crate::progress::{lines, time};
use crate::signals::{self, Words};
use crate::{libvirt_log, output};

/// # Errors
/// [`Failure`] when the host cannot be made; what was created is then removed.
pub fn up(name: &Name, made_of: &HostGuest, plugins: Vec<(Name, PathBuf)>) -> Result<(), Failure> {
    let settings = Settings::from_environment();
    libvirt_log::to_file(&settings.state);
    let inventory = Inventory::find(plugins)?;
    let cancel = Cancel::default();
    let rest = "'crossvisor host down' removes what is left of it";
    let watch = signals::watch(&cancel, Words { removing: "the unfinished host", rest }, output::say)?;
    let began = Instant::now();
    let show = |event: Event| {
        let stamped = Stamped { at_s: began.elapsed().as_secs_f64(), event };
        lines::line(&stamped).iter().for_each(|line| output::say(line));
    };
    let made = kept::up(&KeepRequest {
        name,
        made_of,
        settings: &settings,
        plugins: &inventory.loaded.plugins,
        guests: &inventory.guests,
        show: &show,
        cancel: &cancel,
    });
    drop(watch);
    let host = made?;
    output::show(|out| {
        writeln!(out, "{name} is up after {}", time::duration(began.elapsed().as_secs_f64()))?;
        describe(&host, out)?;
        writeln!(out, "  'crossvisor host shell {name}' goes there, 'crossvisor host down {name}' removes it")
    })
}

fn describe(host: &KeptHost, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  in a scenario: hosts: {{{0}: {{up: {0}}}}}", host.name)?;
    if let Some(config) = &host.address.ssh_config {
        writeln!(out, "  by hand: ssh -F {} {}", config.display(), host.ssh_alias())?;
    }
    match host.outer_accel {
        Accel::Tcg => writeln!(out, "  it is emulated: compare shapes, not figures"),
        _ => Ok(()),
    }
}

/// # Errors
/// [`Failure`] when there is no such host or it cannot be removed.
pub fn down(name: &Name) -> Result<(), Failure> {
    let settings = Settings::from_environment();
    libvirt_log::to_file(&settings.state);
    kept::down(&settings, name)?;
    output::show(|out| writeln!(out, "{name} is gone"))
}

/// # Errors
/// [`Failure`] when the hosts cannot be read.
pub fn list() -> Result<(), Failure> {
    let hosts = kept::list(&Settings::from_environment())?;
    output::show(|out| {
        for (name, host) in &hosts {
            let Some(host) = host else {
                writeln!(out, "{name}: unfinished; 'crossvisor host down {name}' removes it")?;
                continue;
            };
            let state = if host.is_up() { "up" } else { "does not answer" };
            writeln!(out, "{name}: {state}, made of {}, {}", host.made_of.guest, host.address.uri)?;
            describe(host, out)?;
        }
        if hosts.is_empty() {
            writeln!(out, "no host is up: 'crossvisor host up NAME' makes one")
        } else {
            Ok(())
        }
    })
}

/// Becomes OpenSSH.
///
/// # Errors
/// [`Failure`] when there is no such host or no `ssh`.
pub fn shell(name: &Name, command: &[String]) -> Result<ExitCode, Failure> {
    let host = KeptHost::find(&Settings::from_environment(), name)?;
    let mut ssh = Command::new("ssh");
    if let Some(config) = &host.address.ssh_config {
        ssh.arg("-F").arg(config);
    }
    ssh.arg("--").arg(host.ssh_alias()).args(line(command));
    Err(Failure::Ssh(ssh.exec()))
}

/// What the shell of the host is given: one word as it is, several so that it takes them for the same words.
fn line(command: &[String]) -> Option<String> {
    match command {
        [] => None,
        [line] => Some(line.clone()),
        words => Some(quote::line(words)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_a_line_for_the_shell_and_several_stay_words() {
        let of = |words: &[&str]| line(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["virsh list | wc -l"]).as_deref(), Some("virsh list | wc -l"));
        assert_eq!(of(&["cat", "a b"]).as_deref(), Some("'cat' 'a b'"));
    }
}
