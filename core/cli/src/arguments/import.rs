//! Files to make a run or scenarios of.

use std::path::PathBuf;

use clap::Args;
use crossvisor_model::Name;

#[derive(Args, Debug)]
#[command(after_help = "\
What is no result is told of with its file and line. Exit code 0: all was read; 1: parts were refused; 2: nothing
was a result.

Examples:
  crossvisor import bonnie old/*.csv
  crossvisor import iperf3 vm*.json --host rack7 --hypervisor xen-pv --storage lvm --guests 8
  ssh rack7 cat results.txt | crossvisor import bonnie - --json
  crossvisor import xl /etc/xen/web1.cfg --out web1.yaml
  virsh dumpxml web1 | crossvisor import libvirt -

xl reads configuration of xm and xl, libvirt domain XML. The scenario repeats the guest's shape; what has no
counterpart stands in it as comments.")]
pub struct Import {
    /// What printed the results: the name of an offer that imports, see 'plugin list'; or, of guests, xl or libvirt
    pub kind: String,
    /// The files; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Folder that gets the run directory [default: runs]; for guests the scenario's file, or the folder of several
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Name of the run; its directory is called so [default: the kind with date and time]
    #[arg(long)]
    pub name: Option<Name>,
    /// The host that all results are of [default: the machine, as each file calls it]
    #[arg(long, value_name = "NAME")]
    pub host: Option<Name>,
    /// What ran the guests
    #[arg(long, value_name = "NAME", default_value = "bare")]
    pub hypervisor: Name,
    /// What the guests' volumes lived on
    #[arg(long, value_name = "NAME")]
    pub storage: Option<Name>,
    /// Guests at once; with --host each machine in the files is one of them
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub guests: u32,
    /// Print the results as lines of JSON instead
    #[arg(long, conflicts_with_all = ["out", "name", "host", "hypervisor", "storage", "guests"])]
    pub json: bool,
}
