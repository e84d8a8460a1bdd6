//! All that a run directory holds, in memory: what comparison and report are made of.

use serde::{Deserialize, Serialize};

use crate::{Outcome, Plan, Provenance, Sample, SetupFacts, TelemetrySummary};

/// One run as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// `quickstart-20090518-101500`.
    pub name: String,
    pub plan: Plan,
    pub provenance: Provenance,
    /// The metrics of each workload of the plan, as its offer describes them, in the order a report shows them.
    pub metrics: std::collections::BTreeMap<crate::Name, Vec<crate::MetricSpec>>,
    pub outcomes: Vec<Outcome>,
    pub setups: Vec<SetupFacts>,
    pub samples: Vec<Sample>,
    #[serde(default)]
    pub telemetry: Vec<TelemetrySummary>,
    /// Things a person should know about the whole run: `no usable KVM: emulating`.
    pub notices: Vec<String>,
    /// False where the run did not come to its end.
    pub complete: bool,
}
