//! Compiles `src/main.rs` into the static program that the library carries.
//!
//! Calls the compiler itself: the program is always optimised and static, however the workspace is built.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

const SOURCES: [&str; 14] = [
    "src/main.rs",
    "src/cost.rs",
    "src/cpu.rs",
    "src/follow.rs",
    "src/gate.rs",
    "src/memory.rs",
    "src/memread.rs",
    "src/memwrite.rs",
    "src/pi.rs",
    "src/protocol.rs",
    "src/sample.rs",
    "src/tree.rs",
    "src/tsc.rs",
    "src/words.rs",
];

const FLAGS: [&str; 7] = [
    "--crate-name=crossvisor_probe",
    "--edition=2024",
    "-Copt-level=3",
    "-Clto=fat",
    "-Cpanic=abort",
    "-Cstrip=symbols",
    "-Ctarget-feature=+crt-static",
];

fn main() -> Result<(), Box<dyn Error>> {
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
    }
    let output = PathBuf::from(env::var("OUT_DIR")?).join("crossvisor-probe");
    let mut rustc = Command::new(env::var("RUSTC")?);
    rustc.args(FLAGS).args(["--target", &env::var("TARGET")?, "-o"]).arg(&output).arg("src/main.rs");
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    match rustc.status()? {
        status if status.success() => Ok(()),
        status => Err(format!(
            "{rustc:?} ended with {status}: is the C library's static part installed (libc6-dev)?"
        )
        .into()),
    }
}
