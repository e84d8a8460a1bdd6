//! The metrics of fio and how a job's numbers become them.
//!
//! Owns names, units and sums. It must never make a number of a part that is not there.

use crossvisor_plugin::model::{Better, MetricSpec, Values};

use crate::job::{DIRECTIONS, Direction, Job};

/// fio counts whole milliseconds: below this many of them a rate is off by more than a per cent.
const SHORT_MS: f64 = 100.0;

/// A metric of one direction: suffix, label, unit, better, and its value.
type Part = (&'static str, &'static str, &'static str, Better, fn(&Direction) -> Option<f64>);

const IOPS: &str = "iops";
const BANDWIDTH: &str = "bandwidth";
const LATENCY: &str = "latency";
const LATENCY_MAX: &str = "latency_max";
const CPU: &str = "cpu";

const PARTS: [Part; 15] = [
    (IOPS, "requests", "io/s", Better::Higher, |d| d.iops),
    (BANDWIDTH, "bandwidth", "KiB/s", Better::Higher, |d| d.bandwidth_kib_s),
    (LATENCY, "average latency", "us", Better::Lower, |d| Some(d.total?.mean)),
    (LATENCY_MAX, "maximum latency", "us", Better::Lower, |d| Some(d.total?.max)),
    ("clat", "average completion latency", "us", Better::Lower, |d| Some(d.completion?.mean)),
    ("clat_max", "maximum completion latency", "us", Better::Lower, |d| Some(d.completion?.max)),
    ("clat_p50", "median completion latency", "us", Better::Lower, |d| d.percentile(50.0)),
    ("clat_p95", "completion latency, 95 % within", "us", Better::Lower, |d| d.percentile(95.0)),
    ("clat_p99", "completion latency, 99 % within", "us", Better::Lower, |d| d.percentile(99.0)),
    ("clat_p999", "completion latency, 99.9 % within", "us", Better::Lower, |d| d.percentile(99.9)),
    ("slat", "average submission latency", "us", Better::Lower, |d| Some(d.submission?.mean)),
    ("bandwidth_mean", "mean of sampled bandwidths", "KiB/s", Better::Higher, |d| d.bandwidth_mean_kib_s),
    ("requests", "requests done", "requests", Better::Neither, |d| d.requests),
    ("io", "data", "KiB", Better::Neither, |d| d.io_kib),
    ("runtime", "run time", "ms", Better::Neither, |d| d.runtime_ms),
];

/// All metrics: those of all directions together first, as a disk benchmark's table has them.
#[must_use]
pub fn specs() -> Vec<MetricSpec> {
    let mut all: Vec<MetricSpec> = PARTS[..4]
        .iter()
        .map(|(name, label, unit, better, _)| MetricSpec::new(*name, *label, unit, *better))
        .collect();
    all.push(MetricSpec::new(CPU, "CPU of one processor, user and system", "%", Better::Neither));
    all = all.into_iter().map(MetricSpec::headline).collect();
    let shares =
        [("cpu_user", "CPU, user"), ("cpu_system", "CPU, system"), ("disk_busy", "busiest disk at work")];
    all.extend(shares.map(|(name, label)| MetricSpec::new(name, label, "%", Better::Neither)));
    all.extend(DIRECTIONS.iter().flat_map(|direction| {
        PARTS.iter().map(move |(suffix, label, unit, better, _)| {
            MetricSpec::new(format!("{direction}_{suffix}"), format!("{label}, {direction}"), unit, *better)
        })
    }));
    all
}

/// A job's values. `flags` doubt all of what was measured of the disk.
#[must_use]
pub fn values(job: &Job, flags: &[String]) -> Values {
    let mut values = Values::default();
    let mut put = |name: String, value: Option<f64>| {
        values.measured.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    put("cpu_user".into(), job.cpu_user);
    put("cpu_system".into(), job.cpu_system);
    put(CPU.into(), job.cpu_user.zip(job.cpu_system).map(|(user, system)| user + system));
    put("disk_busy".into(), job.disk_busy);
    for (name, direction) in used(job) {
        PARTS.iter().for_each(|(suffix, .., value)| put(format!("{name}_{suffix}"), value(direction)));
    }
    PARTS[..4].iter().for_each(|(name, ..)| put((*name).into(), together(job, name)));
    censor(job, &mut values);
    flag(job, flags, &mut values);
    values
}

fn used(job: &Job) -> impl Iterator<Item = (&'static str, &Direction)> + Clone {
    DIRECTIONS.iter().zip(&job.directions).filter_map(|(name, direction)| Some((*name, direction.as_ref()?)))
}

/// A value of all directions: rates are summed, average latencies are weighted by the requests, and the worst latency
/// is the worst of all. `None` where one of the directions does not have it.
fn together(job: &Job, name: &str) -> Option<f64> {
    let directions = || used(job).map(|(_, direction)| direction);
    let all = |value: fn(&Direction) -> Option<f64>| directions().map(value).collect::<Option<Vec<f64>>>();
    match name {
        IOPS => Some(all(|d| d.iops)?.iter().sum()),
        BANDWIDTH => Some(all(|d| d.bandwidth_kib_s)?.iter().sum()),
        LATENCY_MAX => all(|d| Some(d.total?.max))?.into_iter().reduce(f64::max),
        _ => {
            let means = all(|d| Some(d.total?.mean))?;
            if let [mean] = means.as_slice() {
                return Some(*mean);
            }
            let requests = all(requests)?;
            let sum: f64 = means.iter().zip(&requests).map(|(mean, requests)| mean * requests).sum();
            Some(sum / requests.iter().sum::<f64>())
        }
    }
}

/// As counted, or from the rate and the time.
fn requests(direction: &Direction) -> Option<f64> {
    direction.requests.or_else(|| Some(direction.iops? * direction.runtime_ms? / 1e3))
}

/// What was done in less than a millisecond has no rate: fio prints 0.
fn censor(job: &Job, values: &mut Values) {
    let too_fast =
        |d: &Direction| d.runtime_ms == Some(0.0) || (d.iops == Some(0.0) && d.bandwidth_kib_s == Some(0.0));
    for (name, _) in used(job).filter(|(_, direction)| too_fast(direction)) {
        for part in [IOPS, BANDWIDTH] {
            for metric in [format!("{name}_{part}"), part.to_string()] {
                values.measured.remove(&metric);
                values.too_fast.insert(metric);
            }
        }
    }
}

fn flag(job: &Job, flags: &[String], values: &mut Values) {
    let of_disk = |name: &&String| !flags.is_empty() && !name.starts_with(CPU);
    for name in values.measured.keys().filter(of_disk) {
        values.flags.insert(name.clone(), flags.to_vec());
    }
    for (direction, part) in used(job) {
        let Some(runtime) = part.runtime_ms.filter(|ms| (f64::MIN_POSITIVE..SHORT_MS).contains(ms)) else {
            continue;
        };
        let reason = format!("{direction} ran for {runtime} ms only, and fio counts whole milliseconds");
        for name in
            [IOPS, BANDWIDTH].into_iter().flat_map(|part| [format!("{direction}_{part}"), part.into()])
        {
            if values.measured.contains_key(&name) {
                values.flags.entry(name).or_default().push(reason.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Latency;

    fn direction(iops: f64, mean: f64, max: f64) -> Direction {
        Direction {
            iops: Some(iops),
            bandwidth_kib_s: Some(iops * 4.0),
            io_kib: Some(iops * 40.0),
            runtime_ms: Some(10_000.0),
            total: Latency::new(max, mean),
            ..Direction::default()
        }
    }

    fn job(read: Option<Direction>, write: Option<Direction>) -> Job {
        Job { directions: [read, write, None, None], ..Job::default() }
    }

    #[test]
    fn directions_are_put_together() {
        let both = job(Some(direction(300.0, 10.0, 50.0)), Some(direction(100.0, 30.0, 40.0)));
        let values = values(&both, &[]);
        let expected = [("iops", 400.0), ("bandwidth", 1600.0), ("latency", 15.0), ("latency_max", 50.0)];
        for (name, value) in expected {
            assert_eq!(values.measured.get(name), Some(&value), "{name}");
        }
        assert_eq!(values.measured.get("write_latency"), Some(&30.0));
        assert!(values.flags.is_empty() && !values.measured.contains_key("cpu"));
    }

    #[test]
    fn a_part_that_is_missing_leaves_the_whole_out() {
        let without = Direction { total: None, ..direction(100.0, 0.0, 0.0) };
        let values = values(&job(Some(direction(1.0, 2.0, 3.0)), Some(without)), &[]);
        assert!(!values.measured.contains_key("latency") && values.measured.contains_key("read_latency"));
    }

    #[test]
    fn no_time_is_too_fast_and_little_time_is_flagged() {
        let at = |runtime| Direction { runtime_ms: Some(runtime), ..direction(0.0, 1.0, 2.0) };
        let none = values(&job(Some(at(0.0)), None), &[]);
        assert!(none.too_fast.contains("iops") && none.too_fast.contains("read_bandwidth"));
        assert!(!none.measured.contains_key("iops"));
        let little = Direction { runtime_ms: Some(6.0), ..direction(50.0, 1.0, 2.0) };
        let little = values(&job(Some(little), None), &["doubt".into()]);
        assert_eq!(little.flags["iops"].len(), 2);
        assert_eq!(little.flags["read_latency"], ["doubt"]);
    }

    #[test]
    fn every_metric_has_a_name_of_its_own() {
        let mut names: Vec<String> = specs().into_iter().map(|spec| spec.name).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
