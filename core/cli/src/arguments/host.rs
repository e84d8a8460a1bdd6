//! Hosts that are guests of this machine.

use clap::Subcommand;
use crossvisor_model::{Bytes, Name};

#[derive(Debug, Subcommand)]
pub enum Host {
    /// Make a host of a guest definition, to stay until 'host down'
    #[command(after_help = "\
Examples:
  crossvisor host up xen-host
  crossvisor host up lab --guest xen-host --memory 4GiB
  crossvisor host shell lab -- virsh list --all

In a scenario: 'hosts: {xen: {up: lab}}'.")]
    Up {
        /// What to call it
        name: Name,
        /// The definition of which it is made [default: the one called NAME]
        #[arg(long)]
        guest: Option<Name>,
        #[arg(long, value_name = "SIZE")]
        memory: Option<Bytes>,
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
        vcpus: Option<u32>,
        /// Length of its second disk, which it makes its volume group
        #[arg(long, value_name = "SIZE")]
        disk: Option<Bytes>,
    },
    /// Remove a host with all that is on it
    Down { name: Name },
    /// The hosts that were made, and how to reach them
    List,
    /// A shell on a host, or one command
    Shell {
        name: Name,
        /// Words, or one line for the shell of the host: 'virsh list | wc -l'
        #[arg(last = true)]
        command: Vec<String>,
    },
}
