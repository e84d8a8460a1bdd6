//! What a plugin says of itself.

use std::collections::BTreeSet;

use crossvisor_model::{Kind, Offer};

use crate::options;
use crate::session::Session;

pub(crate) fn check(session: &mut Session<'_>) {
    let manifest = session.subject.manifest();
    for (what, text) in [("version", &manifest.version), ("summary", &manifest.summary)] {
        if text.trim().is_empty() {
            session.error(format!("its {what} is empty"));
        }
    }
    if manifest.offers.is_empty() {
        session.error("it offers nothing");
    }
    repeated(session, "offer", manifest.offers.iter().map(|offer| offer.name.as_str()));
    for offer in &manifest.offers {
        session.place = format!("offer '{}'", offer.name);
        of_offer(session, offer, manifest.kind);
    }
}

fn of_offer(session: &mut Session<'_>, offer: &Offer, kind: Kind) {
    if offer.summary.trim().is_empty() {
        session.warning("its summary is empty");
    }
    repeated(session, "option", offer.options.iter().map(|option| option.name.as_str()));
    repeated(session, "metric", offer.metrics.iter().map(|metric| metric.name.as_str()));
    for option in &offer.options {
        if let Some(why) = options::impossible(&option.kind) {
            session.error(format!("option '{}' has no value: {why}", option.name));
        }
        if let Some(default) = option.default.as_ref().filter(|value| !options::is_valid(&option.kind, value))
        {
            session
                .error(format!("the default {default} of option '{}' is not one of its values", option.name));
        }
        if option.name.is_empty() || option.name == "use" {
            session.error(format!("'{}' cannot be an option's name", option.name));
        }
        if option.help.trim().is_empty() {
            session.warning(format!("option '{}' has no help", option.name));
        }
    }
    let describes = offer.takes_metrics();
    match kind {
        Kind::Workload if offer.metrics.is_empty() && !describes => {
            session.error("a workload without metrics")
        }
        Kind::Workload if !describes && !offer.metrics.iter().any(|metric| metric.headline) => {
            session.warning("no metric is a headline: charts and summaries will not show it");
        }
        Kind::Telemetry if offer.imports == offer.metrics.is_empty() => {
            session.error("telemetry has metrics for what it imports, and only for that");
        }
        Kind::Hypervisor | Kind::Storage if !offer.metrics.is_empty() => {
            session.warning("only workloads have metrics: these are never used");
        }
        _ => {}
    }
    if offer.stages && !matches!(kind, Kind::Hypervisor | Kind::Storage) {
        session.warning("only hypervisors and backings stage: it is never asked to");
    }
    if offer.watched && kind != Kind::Storage {
        session.warning("only the volumes of a backing are watched");
    }
    if offer.own_boot && kind != Kind::Hypervisor {
        session.warning("only the guests of a hypervisor start from their own disk");
    }
    if offer.imports && !matches!(kind, Kind::Workload | Kind::Telemetry) {
        session.warning("only the results of a workload and recordings of telemetry are imported");
    }
    if offer.only_imported && !offer.imports {
        session.error("an offer that is only imported, and imports nothing");
    }
    if offer.drops_caches && kind != Kind::Workload {
        session.warning("page caches are only emptied before the rounds of a workload");
    }
    for metric in offer.metrics.iter().filter(|metric| metric.name.is_empty() || metric.label.is_empty()) {
        session.error(format!("metric '{}' has no name or no label", metric.name));
    }
}

fn repeated<'n>(session: &mut Session<'_>, what: &str, names: impl Iterator<Item = &'n str>) {
    let mut seen = BTreeSet::new();
    for name in names.filter(|name| !seen.insert(*name)).collect::<BTreeSet<_>>() {
        session.error(format!("{what} '{name}' is there more than once"));
    }
}
