//! From rows to verdicts: which values are tested against which, and the correction over all of them.
//!
//! Owns how values that were too fast take part. It must never test a number that was made up for one.

use crossvisor_model::{Better, Value};

use crate::ranks::RankTables;
use crate::verdict::{Lack, Rules, Tests, Unshown, Verdict};
use crate::{MetricComparison, Replicate, Row, Welch, WorkloadComparison, hedges_g, holm};

/// Gives every row that has a baseline its tests and its verdict. The headline metrics of all workloads are one family
/// of comparisons, all other metrics a second one.
pub(crate) fn judge(workloads: &mut [WorkloadComparison], baselines: &[&[Option<usize>]], rules: Rules) {
    let mut tables = RankTables::default();
    for (workload, baselines) in workloads.iter_mut().zip(baselines) {
        for metric in &mut workload.metrics {
            examine_all(metric, baselines, &mut tables);
        }
    }
    for headline in [true, false] {
        let metrics = workloads.iter_mut().flat_map(|workload| &mut workload.metrics);
        let family = metrics.filter(|metric| metric.spec.headline == headline);
        let rows = family.flat_map(|MetricComparison { spec, rows, .. }| {
            let better = spec.better;
            rows.iter_mut().map(move |row| (row, better))
        });
        correct(rows, rules);
    }
}

fn examine_all(metric: &mut MetricComparison, baselines: &[Option<usize>], tables: &mut RankTables) {
    let better = metric.spec.better;
    if better == Better::Neither {
        return;
    }
    for (index, baseline) in baselines.iter().enumerate() {
        let Some(baseline) = baseline.filter(|&baseline| baseline != index) else { continue };
        match examine(&metric.rows[index], &metric.rows[baseline], better, tables) {
            Ok(tests) => metric.rows[index].tests = Some(tests),
            Err(verdict) => metric.rows[index].verdict = Some(verdict),
        }
    }
}

/// The tests of a row against its baseline, or the verdict where there is nothing to test.
pub(crate) fn examine(
    own: &Row,
    base: &Row,
    better: Better,
    tables: &mut RankTables,
) -> Result<Tests, Verdict> {
    if own.estimate.too_fast() + base.estimate.too_fast() > 0 {
        return examine_order(own, base, better, tables);
    }
    let lack = |lack| Err(Verdict::NotEnoughData(lack));
    let Some((a, b)) = own.estimate.comparable().zip(base.estimate.comparable()) else {
        return lack(Lack::NoValue);
    };
    if a.n < 2 || b.n < 2 {
        return lack(Lack::OneReplicate);
    }
    if a.min == b.max && a.max == b.min {
        return Err(Verdict::NoDifferenceShown(Unshown::AllSame));
    }
    let values = |row: &Row| row.replicates.iter().filter_map(|replicate| replicate.mean).collect::<Vec<_>>();
    Ok(Tests {
        welch: Welch::of(a, b),
        ranks: tables.test(&values(own), &values(base)),
        p_holm: None,
        hedges_g: hedges_g(a, b),
    })
}

/// Where values were too fast, only the order of the replicates is known.
fn examine_order(own: &Row, base: &Row, better: Better, tables: &mut RankTables) -> Result<Tests, Verdict> {
    let lack = |lack| Verdict::NotEnoughData(lack);
    let a = ordered(&own.replicates, better).map_err(lack)?;
    let b = ordered(&base.replicates, better).map_err(lack)?;
    match a.len().min(b.len()) {
        0 => Err(lack(Lack::NoValue)),
        1 => Err(lack(Lack::OneReplicate)),
        _ if a.iter().chain(&b).all(|value| value.is_infinite()) => {
            Err(Verdict::NoDifferenceShown(Unshown::BothTooFast))
        }
        _ => Ok(Tests { ranks: tables.test(&a, &b), ..Tests::default() }),
    }
}

/// The replicates' values, with infinity for those that were too fast: every cell of a workload does the same work, so
/// that what was too fast to measure was faster than anything that was not. Replicates that lost a value are left out.
fn ordered(replicates: &[Replicate], better: Better) -> Result<Vec<f64>, Lack> {
    let beyond = if better == Better::Higher { f64::INFINITY } else { f64::NEG_INFINITY };
    let mut values = Vec::new();
    for replicate in replicates {
        let any = |is: fn(&Value) -> bool| replicate.instances.iter().any(|instance| is(&instance.value));
        match replicate.mean {
            Some(mean) => values.push(mean),
            None if replicate.too_fast => values.push(beyond),
            None if any(|v| matches!(v, Value::TooFast)) && any(|v| matches!(v, Value::Measured(_))) => {
                return Err(Lack::PartlyTooFast);
            }
            None => {}
        }
    }
    Ok(values)
}

/// Adjusts the p values of a family and gives its rows that have tests their verdicts.
pub(crate) fn correct<'a>(rows: impl Iterator<Item = (&'a mut Row, Better)>, rules: Rules) {
    let family: Vec<(&mut Row, Better)> = rows.filter(|(row, _)| row.tests.is_some()).collect();
    let p: Vec<f64> =
        family.iter().map(|(row, _)| row.tests.and_then(|tests| tests.p()).unwrap_or(1.0)).collect();
    for ((row, better), p) in family.into_iter().zip(holm(&p)) {
        let tests = row.tests.insert(Tests { p_holm: Some(p), ..row.tests.unwrap_or_default() });
        row.verdict = Some(rules.verdict(tests, row.ratio, better));
    }
}
