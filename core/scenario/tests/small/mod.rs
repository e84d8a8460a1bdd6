//! A small scenario that is right, and problems as text.

use crossvisor_scenario::Problem;

pub const SMALL: &str = "
name: small
guest: {image: debian-12, memory: 384MiB}
matrix:
  hypervisor: [bare, kvm-virtio]
  storage: [file, qcow]
  guests: [1, 2]
  workload: [pi, disk]
storages: {qcow: {use: file, format: qcow2, cache: none}}
workloads: {disk: {use: bonnie, size: 1GiB}}
";

pub fn said(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}
