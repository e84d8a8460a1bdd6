//! Golden transcripts: the plugin's whole behaviour towards the host.

use crossvisor_plugin::testkit::golden;
use crossvisor_storage_loop::Loop;

#[test]
fn every_request_gets_its_reply() {
    golden::<Loop>(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
}
