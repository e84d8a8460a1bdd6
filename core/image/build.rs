//! Makes cargo embed the guest definitions again when one of them changes.

fn main() {
    println!("cargo::rerun-if-changed=../../guests");
}
