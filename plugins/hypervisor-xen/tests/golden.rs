//! Golden transcripts: the plugin's whole behaviour towards the host.

use crossvisor_hypervisor_xen::Xen;
use crossvisor_plugin::testkit::golden;

#[test]
fn every_request_gets_its_reply() {
    golden::<Xen>(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
}
