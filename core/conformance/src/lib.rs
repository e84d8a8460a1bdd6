//! Does a plugin keep the contract? The checks that an author runs before others run the plugin.
//!
//! Owns the rules and the inputs they are tried with. It must never carry out a step, print, or know a plugin by
//! its name.

mod envelope;
mod finding;
mod hypervisor;
mod inputs;
mod manifest;
mod operation;
mod options;
mod session;
mod stage;
mod steps;
mod storage;
mod telemetry;
mod transcripts;
mod workload;

#[cfg(test)]
mod tests;

use crossvisor_model::Kind;

pub use finding::{Finding, Problem, Severity};
use session::Session;
pub use session::Subject;
pub use transcripts::transcripts;

/// A check: what it is about, and how it is made.
type Check = (&'static str, fn(&mut Session<'_>));

const MANIFEST: Check = ("manifest", manifest::check);
const ENVELOPE: [Check; 4] = [
    ("malformed requests are refused", envelope::malformed),
    ("another envelope version is refused", envelope::version),
    ("unknown operations are refused", envelope::operations),
    ("unknown offers are refused", envelope::offers),
];
const HYPERVISOR: [Check; 3] =
    [("stage", stage::check), ("define", hypervisor::define), ("alive", hypervisor::alive)];
const STORAGE: [Check; 3] =
    [("stage", stage::check), ("create", storage::create), ("inspect", storage::inspect)];
const WORKLOAD: [Check; 4] = [
    ("prepare", workload::prepare),
    ("work", workload::work),
    ("parse of what is no result", workload::parse),
    ("parse of much text", workload::parse_much),
];
const TELEMETRY: [Check; 2] =
    [("sources", telemetry::sources), ("record of what no source printed", telemetry::record)];
const LAST: Check = ("several calls at once", envelope::at_once);

/// Makes every check that fits the plugin's kind, in order. A plugin that ends is not asked again: the checks after
/// that are left out, and the last finding says so.
#[must_use]
pub fn check(subject: &dyn Subject) -> Vec<Finding> {
    let of_kind: &[Check] = match subject.manifest().kind {
        Kind::Hypervisor => &HYPERVISOR,
        Kind::Storage => &STORAGE,
        Kind::Workload => &WORKLOAD,
        Kind::Telemetry => &TELEMETRY,
    };
    let mut findings = Vec::new();
    for (name, make) in std::iter::once(MANIFEST).chain(ENVELOPE).chain(of_kind.iter().copied()).chain([LAST])
    {
        let mut session = Session::new(subject);
        make(&mut session);
        let ended = session.has_ended();
        findings.push(Finding { check: name.into(), problems: session.into_problems() });
        if ended {
            let text = "not made, because the plugin ended in the check before".to_string();
            findings.push(Finding::failed("the other checks", text));
            break;
        }
    }
    findings
}

/// True where no finding holds an error.
#[must_use]
pub fn passed(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| !finding.is_error())
}
