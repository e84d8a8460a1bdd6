//! Golden transcripts: the plugin's whole behaviour towards the host.

use crossvisor_plugin::testkit::golden;
use crossvisor_workload_tree::Tree;

#[test]
fn every_request_gets_its_reply() {
    golden::<Tree>(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
}
