//! What a comparison comes to, in a few sentences: what comes before all numbers.
//!
//! Owns the wording. It must never call a difference that has no verdict.

use std::cmp::Ordering;

use crossvisor_analysis::verdict::LEVEL;
use crossvisor_analysis::{Comparison, Lack, MetricComparison, Row, Verdict, WorkloadComparison};
use crossvisor_model::Better;

use crate::clean::one_line;
use crate::number::percent;
use crate::table::{Metrics, Setups, baseline_name, shown, verdict};

/// How verdicts are counted, in this order.
const WORDS: [&str; 6] = ["better", "worse", "the same", "unclear", "too few", "no data"];

/// The sentences, the most important first; none where nothing is compared.
pub fn findings(comparison: &Comparison) -> Vec<String> {
    let rows: Vec<&Row> = headline(comparison).flat_map(|(_, metric)| &metric.rows).collect();
    let verdicts: Vec<Verdict> = rows.iter().filter_map(|row| row.verdict).collect();
    let said = headline(comparison).filter_map(|(workload, metric)| of_metric(comparison, workload, metric));
    let counted = count(&verdicts, &baseline_name(&comparison.baseline));
    counted.into_iter().chain(why_none(&verdicts)).chain(said).collect()
}

fn headline(comparison: &Comparison) -> impl Iterator<Item = (&WorkloadComparison, &MetricComparison)> {
    let of = |workload| shown(workload, Metrics::Headline).map(move |metric| (workload, metric));
    comparison.workloads.iter().flat_map(of)
}

/// `56 comparisons with bare: 3 better, 40 worse, 13 unclear`
fn count(verdicts: &[Verdict], baseline: &str) -> Option<String> {
    let part = |word: &&'static str| {
        let count = verdicts.iter().filter(|known| verdict(**known) == *word).count();
        (count > 0).then(|| format!("{count} {word}"))
    };
    let parts: Vec<String> = WORDS.iter().filter_map(part).collect();
    let plural = if verdicts.len() == 1 { "" } else { "s" };
    (!parts.is_empty())
        .then(|| format!("{} comparison{plural} with {baseline}: {}", verdicts.len(), parts.join(", ")))
}

/// Where replicates are too few for any verdict.
fn why_none(verdicts: &[Verdict]) -> Option<String> {
    let alone = |verdict: &Verdict| matches!(verdict, Verdict::NotEnoughData(Lack::OneReplicate));
    let lacks = verdicts.iter().all(|verdict| matches!(verdict, Verdict::NotEnoughData(_)));
    (lacks && verdicts.iter().any(alone)).then(|| {
        format!(
            "No difference is called: values of one replicate do not tell how much is chance. With 'repeat: 5' or more in \
             the scenario, those are called that chance explains in less than {} of 100 reports.",
            LEVEL * 100.0
        )
    })
}

/// `disk, sequential write: worst kvm-e1000/file/1 (41.0 % of bare), best …`; `None` without a difference that is called.
fn of_metric(
    comparison: &Comparison,
    workload: &WorkloadComparison,
    metric: &MetricComparison,
) -> Option<String> {
    let setups = Setups::of(comparison);
    let called = metric.rows.iter().filter_map(|row| Some((row, row.verdict?, row.ratio?.value)));
    let mut called: Vec<_> =
        called.filter(|(_, verdict, _)| matches!(verdict, Verdict::Better | Verdict::Worse)).collect();
    called.sort_by(|(_, _, a), (_, _, b)| order(metric.spec.better, *a, *b));
    let say = |place: &str, (row, call, ratio): &(&Row, Verdict, f64)| {
        let setup = setups.label(&row.axes);
        let baseline = baseline_name(&comparison.baseline);
        format!("{place}{setup}, {} with {} % of {baseline}", verdict(*call), percent(*ratio))
    };
    let (first, last) = (called.first()?, called.last()?);
    let label = format!("{}, {}", workload.workload, one_line(&metric.spec.label));
    Some(match called.len() {
        1 => format!("{label}: {}", say("", first)),
        _ => format!("{label}: {}; {}", say("from ", first), say("to ", last)),
    })
}

/// The best first.
fn order(better: Better, a: f64, b: f64) -> Ordering {
    if better == Better::Lower { a.total_cmp(&b) } else { b.total_cmp(&a) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossvisor_analysis::Unshown;

    #[test]
    fn verdicts_are_counted_and_single_replicates_explained() {
        let unclear = Verdict::NoDifferenceShown(Unshown::MayBeChance);
        let alone = Verdict::NotEnoughData(Lack::OneReplicate);
        let all = [Verdict::Worse, unclear, Verdict::Worse, alone];
        let expected = "4 comparisons with bare: 2 worse, 1 unclear, 1 too few";
        assert_eq!(count(&all, "bare").as_deref(), Some(expected));
        assert_eq!(count(&[], "bare"), None);
        assert_eq!((why_none(&all), why_none(&[])), (None, None));
        assert!(why_none(&[alone, Verdict::NotEnoughData(Lack::NoValue)]).is_some());
    }

    #[test]
    fn the_best_comes_first_whichever_way_is_better() {
        assert_eq!(order(Better::Higher, 2.0, 1.0), Ordering::Less);
        assert_eq!(order(Better::Lower, 2.0, 1.0), Ordering::Greater);
    }
}
