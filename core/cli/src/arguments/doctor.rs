//! Hosts to look at.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  crossvisor doctor
  crossvisor doctor scenarios/xen-vs-kvm.yaml
  crossvisor doctor --host xen+ssh://root@rack7/system --bridge br0")]
pub struct Doctor {
    /// Look at the hosts of this scenario
    #[arg(conflicts_with = "host")]
    pub scenario: Option<PathBuf>,
    /// A libvirt URI (repeatable) [default: this machine]
    #[arg(long, value_name = "URI")]
    pub host: Vec<String>,
    /// The bridge that its guests are to join
    #[arg(long, requires = "host")]
    pub bridge: Option<String>,
    /// OpenSSH configuration for it
    #[arg(long, value_name = "FILE", requires = "host")]
    pub ssh_config: Option<PathBuf>,
}
