//! Golden transcripts: the plugin's whole behaviour towards the host.

use crossvisor_plugin::testkit::golden;
use crossvisor_workload_fio::Fio;

#[test]
fn every_request_gets_its_reply() {
    golden::<Fio>(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
}
