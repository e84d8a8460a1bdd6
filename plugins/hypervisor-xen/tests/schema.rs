//! The domain XML of every golden transcript against libvirt's own schema.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What libvirt says against a domain; its test driver takes a domain of any hypervisor.
fn objection(xml: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("schema-{}.xml", std::process::id()));
    fs::write(&file, xml).expect("write");
    let mut virsh = Command::new("virsh");
    virsh.args(["--connect", "test:///default", "define", "--validate"]).arg(&file);
    let output = virsh.output().expect("virsh (package libvirt-clients)");
    fs::remove_file(&file).expect("remove");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_domain_is_valid_by_libvirts_schema() {
    let mut seen = 0;
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).expect("golden") {
        let path = entry.expect("entry").path();
        let transcript: Value =
            serde_json::from_str(&fs::read_to_string(&path).expect("text")).expect("JSON");
        let xml = transcript.pointer("/reply/ok/steps/0/xml").and_then(Value::as_str);
        let Some(xml) = xml else { continue };
        assert_eq!(objection(xml), None, "{}", path.display());
        let broken = xml.replace("<on_crash>destroy", "<on_crash>nonsense");
        assert!(objection(&broken).is_some_and(|said| said.contains("on_crash")), "the schema is not used");
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}
