//! The DIRAC Benchmark 2012: its formula, its options and metrics, and its correction factors.
//!
//! Owns the score that follows from processor time, as <https://github.com/DIRACGrid/DB12> publishes it: 250 for
//! 12,500,000 normal variates in one second, "250 HS06 seconds". It must never correct a score by a factor that nobody
//! published.

use crossvisor_plugin::ParsedSample;
use crossvisor_plugin::model::{Better, MetricSpec, Name, NameError, Offer, OptionKind, OptionSpec, Value};
use crossvisor_plugin::sdk::Chosen;
use serde_json::json;

use crate::copies::Line;
use crate::line::{Asked, LineError};
use crate::pythia::copies_option;
use crate::spread::geometric_mean;

/// Normal variates of one round, and the score of a processor that draws them in one second.
const NUMBERS: u64 = 12_500_000;
const CALIBRATION: f64 = 250.0;

/// What brings the score of a Python 3 to that of Python 2, by version and the processor's brand (file `factors.json`
/// of DB12 1.0.4; <https://zenodo.org/record/5647834>).
const FACTORS: [(&str, &str, f64); 2] = [("3.9", "Intel", 0.86), ("3.9", "AMD", 0.71)];

pub fn asked(chosen: &Chosen) -> [Asked; 2] {
    [("numbers", chosen.whole("numbers").unwrap_or(NUMBERS)), ("rounds", chosen.whole("rounds").unwrap_or(1))]
}

/// # Errors
/// [`NameError`] when a name of the plugin's own is not valid.
pub fn offer() -> Result<Offer, NameError> {
    let whole = |max| OptionKind::Integer { min: 1, max };
    Ok(Offer {
        options: vec![
            OptionSpec::new(
                "numbers",
                OptionKind::Integer { min: 1000, max: 1_000_000_000 },
                json!(NUMBERS),
                "random numbers of a round; the score is calibrated for 12500000",
            ),
            OptionSpec::new("rounds", whole(1000), json!(1), "rounds that count, after one that does not"),
            copies_option(),
        ],
        metrics: metrics(),
        guest_programs: vec!["python3".into()],
        imports: true,
        ..Offer::new(Name::new("db12")?, "DIRAC Benchmark 2012, random numbers in Python on every processor")
    })
}

/// Of runs and of imported results.
pub fn metrics() -> Vec<MetricSpec> {
    let score = |name: &str, label: &str| MetricSpec::new(name, label, "DB12", Better::Higher);
    vec![
        score("db12", "DB12 by processor time, sum of the copies").headline(),
        score("db12_core", "DB12 by processor time, mean of the copies").headline(),
        score("db12_wall", "DB12 by wall-clock time, sum of the copies").headline(),
        score("db12_core_wall", "DB12 by wall-clock time, mean of the copies"),
        score("db12_geometric", "DB12 by processor time, geometric mean of the copies"),
        score("db12_median", "DB12 by processor time, median of the copies, the lower of two"),
        score("db12_min", "DB12 by processor time, slowest copy"),
        score("db12_max", "DB12 by processor time, fastest copy"),
        score("db12_copy", "DB12 of one copy among several"),
        MetricSpec::new(
            "db12_suite",
            "DB12 as the HEP Benchmark Suite prints it",
            "est. HS06",
            Better::Higher,
        )
        .headline(),
    ]
}

/// The values that DB12 itself prints of its copies' scores, by metric; `None` unless all are above 0.
pub fn of_copies(scores: &[f64]) -> Option<[(&'static str, f64); 6]> {
    let geometric = geometric_mean(scores)?;
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    let sum: f64 = sorted.iter().sum();
    Some([
        ("db12", sum),
        ("db12_core", sum / sorted.len() as f64),
        ("db12_geometric", geometric),
        ("db12_median", sorted[(sorted.len() - 1) / 2]),
        ("db12_min", sorted[0]),
        ("db12_max", sorted[sorted.len() - 1]),
    ])
}

/// The samples and what a person should know about them.
///
/// # Errors
/// [`LineError::Wrong`] when the numbers are no normal variates.
pub fn samples(chosen: &Chosen, line: &Line) -> Result<(Vec<ParsedSample>, Vec<String>), LineError> {
    let [(_, numbers), (_, rounds)] = asked(chosen);
    let drawn = (numbers * rounds) as f64;
    // Six times the standard error of the mean of normal variates around 10 with standard deviation 1.
    if line.each.iter().any(|one| (one.check / drawn - 10.0).abs() > 6.0 / drawn.sqrt()) {
        return Err(LineError::Wrong("the mean of its random numbers is far from 10"));
    }
    let factor = factor(&line.python, line.brand.as_deref());
    let score = |seconds: f64| factor.unwrap_or(1.0) * CALIBRATION * drawn / NUMBERS as f64 / seconds;
    let by_cpu: Vec<f64> = line.each.iter().map(|one| score(one.cpu_s)).collect();
    let by_wall: f64 = line.each.iter().map(|one| score(one.wall_s)).sum();
    let mut values: Vec<(&str, f64)> = of_copies(&by_cpu).ok_or(LineError::NoTime)?.into();
    values.extend([("db12_wall", by_wall), ("db12_core_wall", by_wall / by_cpu.len() as f64)]);
    let sample = |(metric, value): (&str, f64)| ParsedSample {
        metric: metric.into(),
        value: Value::Measured(value),
        flags: Vec::new(),
    };
    let warning = factor.is_none().then(|| {
        format!(
            "no correction factor is published for Python {} on this processor: DB12 is as measured, higher than that \
             of Python 2",
            line.python
        )
    });
    Ok((values.into_iter().map(sample).collect(), warning.into_iter().collect()))
}

fn factor(python: &str, brand: Option<&str>) -> Option<f64> {
    let of = |version: &str| {
        python.strip_prefix(version).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    FACTORS.iter().find(|(version, name, _)| of(version) && brand == Some(name)).map(|(_, _, factor)| *factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_published_factors_correct() {
        assert_eq!(factor("3.9.2", Some("Intel")), Some(0.86));
        assert_eq!(factor("3.9", Some("AMD")), Some(0.71));
        for (python, brand) in
            [("3.91", Some("AMD")), ("3.11.2", Some("AMD")), ("3.9.2", Some("QEMU")), ("3.9.2", None)]
        {
            assert_eq!(factor(python, brand), None);
        }
    }

    #[test]
    fn the_median_of_an_even_number_is_the_lower() {
        let values = of_copies(&[4.0, 1.0]).expect("scores");
        let value = |name| values.iter().find(|(metric, _)| *metric == name).map(|(_, value)| *value);
        assert_eq!(value("db12"), Some(5.0));
        assert_eq!(value("db12_median"), Some(1.0));
        assert_eq!((value("db12_min"), value("db12_max")), (Some(1.0), Some(4.0)));
        assert!((value("db12_geometric").expect("there") - 2.0).abs() < 1e-12);
        assert_eq!(of_copies(&[4.0, 0.0]), None);
        assert_eq!(of_copies(&[]), None);
    }
}
