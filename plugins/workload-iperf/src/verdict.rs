//! Whether what a client printed is the result that was asked for.
//!
//! Owns the limits of what is believed: the exit code is not, since both tools end with 0 where they failed.

use crossvisor_plugin::model::Value;
use crossvisor_plugin::{Failure, ParseInput, ParseOutput, ParsedSample};

use crate::asked::Asked;
use crate::direction::Direction;
use crate::read::read;
use crate::report::Report;
use crate::values::values;

/// Relative to the asked time.
const TOO_SHORT: f64 = 0.9;
/// Relative to the asked time; more is flagged.
const TOO_LONG: f64 = 1.1;

/// The samples of one client.
///
/// # Errors
/// [`Failure`] in the tool's own words when the output is not a whole result of what was asked for.
pub fn verdict(asked: &Asked, input: &ParseInput) -> Result<ParseOutput, Failure> {
    let direction = Direction::of_round(&input.round)
        .ok_or_else(|| Failure::new(format!("'{}' is not a round of iperf; use out or in", input.round)))?;
    let report = one(input).and_then(|report| check(asked, direction, &report).map(|()| report));
    let report = report.map_err(|reason| failure(asked, input, &reason))?;
    let versions = report.version.iter().map(|version| (asked.tool.program().to_string(), version.clone()));
    Ok(ParseOutput {
        samples: samples(asked, direction, &report),
        warnings: report.flows.iter().flat_map(|flow| flow.notes.clone()).collect(),
        versions: versions.collect(),
    })
}

/// The only test of an output. What stands on standard error is read with it, for the tool's complaints.
fn one(input: &ParseInput) -> Result<Report, String> {
    let mut found = read(&format!("{}\n{}", input.stdout, input.stderr));
    match (found.reports.pop(), found.refused.first()) {
        (Some(report), None) if found.reports.is_empty() => match report.complaints.as_slice() {
            [] => Ok(report),
            complaints => Err(format!("it said: {}", complaints.join("; "))),
        },
        (_, Some(refused)) => Err(refused.said.clone().unwrap_or_else(|| refused.reason.clone())),
        (Some(_), None) => Err(format!("it printed {} results where 1 is expected", found.reports.len() + 1)),
        (None, None) => {
            let last =
                |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(String::from);
            let said =
                last(&input.stderr).or_else(|| last(&input.stdout)).unwrap_or_else(|| "nothing".into());
            Err(format!("it printed no result; it said: {said}"))
        }
    }
}

fn check(asked: &Asked, direction: Direction, report: &Report) -> Result<(), String> {
    let [flow] = report.flows.as_slice() else { return Err("it measured both directions at once".into()) };
    if flow.direction != direction {
        return Err("it measured the other direction".into());
    }
    if report.protocol.is_some_and(|protocol| protocol != asked.protocol) {
        return Err(format!("it did not measure {}", asked.protocol.label()));
    }
    if u64::try_from(flow.streams) != Ok(asked.streams) {
        return Err(format!("it used {} streams instead of {}", flow.streams, asked.streams));
    }
    let seconds = flow.received.or(flow.sent).map_or(0.0, |total| total.seconds);
    if seconds < TOO_SHORT * asked.seconds {
        return Err(format!("it measured {seconds} s instead of {} s", asked.seconds));
    }
    Ok(())
}

fn samples(asked: &Asked, direction: Direction, report: &Report) -> Vec<ParsedSample> {
    let values = values(report);
    let seconds =
        report.flows.iter().filter_map(|flow| flow.received.or(flow.sent)).map(|total| total.seconds);
    let long = seconds.reduce(f64::max).filter(|seconds| *seconds > TOO_LONG * asked.seconds);
    let sample = |metric: &String, value: Value| {
        let mut flags = values.flags.get(metric).cloned().unwrap_or_default();
        let too_long = long.filter(|_| metric == direction.round());
        flags.extend(
            too_long.map(|seconds| format!("measured over {seconds} s instead of {} s", asked.seconds)),
        );
        ParsedSample { metric: metric.clone(), value, flags }
    };
    let measured = values.measured.iter().map(|(metric, value)| sample(metric, Value::Measured(*value)));
    let missing =
        values.missing.iter().map(|(metric, reason)| sample(metric, Value::Missing(reason.clone())));
    measured.chain(missing).collect()
}

fn failure(asked: &Asked, input: &ParseInput, reason: &str) -> Failure {
    Failure::new(format!(
        "{} on instance {}, round {}, is no result: {reason}; the whole output is in the run directory",
        asked.tool.label(),
        input.instance.index,
        input.round
    ))
}
