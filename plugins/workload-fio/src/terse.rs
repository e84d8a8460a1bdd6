//! Jobs out of terse lines: fields separated by semicolons, versions 2 to 5.
//!
//! Owns their layout. It must never take a line whose fields are not where its version has them.
//!
//! After the head (version, from 3 on fio's version, job, group, error) comes a block for reads, one for writes and,
//! in newer fio, one for trims; then the processor (two shares in per cent and three counts), shares of depths and
//! latencies in per cent, and nine fields for each disk. Latencies are microseconds.

use crate::job::{Direction, Job, Latency};

/// A line with fewer semicolons is none of fio's.
const LEAST: usize = 20;
/// Shares of latencies, at least.
const SHARES: usize = 21;
/// Fields of one direction; version 5 has six more.
const BLOCK: usize = 41;
const BLOCK_5: usize = 47;
/// User, system, context switches, major and minor faults, and seven shares of depths.
const PROCESSOR: usize = 12;
/// Name, eight numbers.
const DISK: usize = 9;

/// All jobs, and the lines that look like fio's and are not read, with the reason.
#[must_use]
pub fn jobs(text: &str) -> (Vec<Job>, Vec<(usize, String)>) {
    let (mut jobs, mut refused) = (Vec::new(), Vec::new());
    let mut signal = None;
    for (index, line) in text.lines().enumerate() {
        signal = crate::said::signal(line).or(signal);
        let line = line.trim().trim_start_matches(['>', ' ']);
        let is_number = line.split(';').next().is_some_and(|first| first.parse::<u32>().is_ok());
        if !is_number || !line.contains("%=") || line.matches(';').count() < LEAST {
            continue;
        }
        match job(&line.split(';').collect::<Vec<_>>(), index + 1) {
            Ok(job) => jobs.push(Job { interrupted: signal.clone(), ..job }),
            Err(reason) => refused.push((index + 1, reason)),
        }
    }
    (jobs, refused)
}

fn job(fields: &[&str], line: usize) -> Result<Job, String> {
    let (head, block) = match fields.first() {
        Some(&"2") => (4, BLOCK),
        Some(&("3" | "4")) => (5, BLOCK),
        Some(&"5") => (5, BLOCK_5),
        other => {
            let found = other.copied().unwrap_or_default();
            return Err(format!("expected a terse version from 2 to 5 in field 1, found '{found}'"));
        }
    };
    let blocks = [3, 2].into_iter().find(|blocks| is_processor(fields, head + blocks * block));
    let blocks = blocks.ok_or_else(|| {
        let wanted = head + 2 * block + PROCESSOR;
        format!(
            "expected the shares of the processor and of the depths (in %) after two or three blocks of {block} \
             fields, found {} fields that do not have them: the line may be cut or joined; {wanted} are the fewest",
            fields.len()
        )
    })?;
    let mut directions = [None, None, None, None];
    for (at, direction) in directions.iter_mut().take(blocks).enumerate() {
        *direction = read(fields, head + at * block, block)?;
    }
    let tail = head + blocks * block;
    let rest = &fields[tail + PROCESSOR..];
    let shares = rest.iter().take_while(|field| field.ends_with('%')).count();
    if shares < SHARES {
        return Err(format!(
            "expected {SHARES} shares of latencies (in %) at the end, found {shares}: the line is cut"
        ));
    }
    Ok(Job {
        line,
        name: fields[head - 3].into(),
        run: line,
        group: number(fields, head - 2).ok().map(|group| group as u64),
        error: fields[head - 1].trim().parse().map_err(|_| expected(fields, head - 1, "an error number"))?,
        version: (head == 5).then(|| fields[1].trim_start_matches("fio-").to_string()),
        directions,
        cpu_user: Some(number(fields, tail)?),
        cpu_system: Some(number(fields, tail + 1)?),
        disk_busy: disk_busy(&rest[shares..]),
        ..Job::default()
    })
}

/// Two shares, three counts and seven shares begin at `at`.
fn is_processor(fields: &[&str], at: usize) -> bool {
    let share = |field: &&str| field.ends_with('%');
    fields
        .get(at..at + PROCESSOR)
        .is_some_and(|f| f[..2].iter().all(share) && !f[2..5].iter().any(share) && f[5..].iter().all(share))
}

/// One direction; `None` where its block is all zeros.
fn read(fields: &[&str], at: usize, block: usize) -> Result<Option<Direction>, String> {
    let value = |offset: usize| number(fields, at + offset);
    // Minimum, maximum, mean, deviation.
    let latency = |offset: usize| Ok::<_, String>(Latency::new(value(offset + 1)?, value(offset + 2)?));
    let percentiles: Result<Vec<_>, String> = (at + 12..at + 32).map(|at| percentile(fields, at)).collect();
    let direction = Direction {
        io_kib: Some(value(0)?),
        bandwidth_kib_s: Some(value(1)?),
        iops: Some(value(2)?),
        runtime_ms: Some(value(3)?),
        submission: latency(4)?,
        completion: latency(8)?,
        percentiles: percentiles?.into_iter().filter(|(percent, _)| *percent > 0.0).collect(),
        total: latency(32)?,
        bandwidth_mean_kib_s: Some(value(39)?).filter(|mean| *mean > 0.0),
        requests: None,
    };
    (40..block).try_for_each(|offset| value(offset).map(drop))?;
    Ok(direction.is_used().then_some(direction))
}

fn number(fields: &[&str], at: usize) -> Result<f64, String> {
    let field = fields.get(at).map_or("", |field| field.trim());
    let value = field.strip_suffix('%').unwrap_or(field).parse().ok();
    value
        .filter(|value: &f64| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| expected(fields, at, "a number"))
}

/// `99.000000%=2800`
fn percentile(fields: &[&str], at: usize) -> Result<(f64, f64), String> {
    let pair = fields.get(at).and_then(|field| field.split_once("%="));
    let pair = pair.and_then(|(percent, value)| Some((percent.parse().ok()?, value.parse().ok()?)));
    pair.ok_or_else(|| expected(fields, at, "a percentile such as 99.000000%=12"))
}

fn expected(fields: &[&str], at: usize, what: &str) -> String {
    let found = fields.get(at).map_or("the end".into(), |field| format!("'{field}'"));
    format!("expected {what} in field {}, found {found}", at + 1)
}

/// Of the busiest disk. The fields of the disks follow the shares of the latencies, of which there are 21 or 22.
fn disk_busy(fields: &[&str]) -> Option<f64> {
    let busy = fields.chunks_exact(DISK).filter_map(|disk| disk[DISK - 1].strip_suffix('%')?.parse().ok());
    busy.reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block whose bandwidth is `kib_s`.
    fn block(kib_s: u64, fields: usize) -> String {
        let percentiles =
            (1..=20).map(|p| format!("{}.000000%={}", p * 5, kib_s / 10 + p)).collect::<Vec<_>>();
        let head = format!("{};{kib_s};{};2000;1;2;1.5;0.1;3;40;20.5;4.0", kib_s * 2, kib_s / 4);
        let more = ";0".repeat(fields - BLOCK);
        format!("{head};{};4;42;22.0;4.1;1;9;99.5%;{kib_s}.5;0.5{more}", percentiles.join(";"))
    }

    fn line(version: &str, head: &str, blocks: usize, fields: usize) -> String {
        let all = (0..blocks).map(|at| block(400 * (at as u64), fields)).collect::<Vec<_>>().join(";");
        let shares = ["0.00%"; 7 + 22].join(";");
        let disk = "sda;1;2;0;0;3;4;5;77.25%";
        format!("{version};{head}job;0;0;{all};1.50%;2.50%;10;0;9;{shares};{disk}")
    }

    #[test]
    fn every_version_is_read() {
        for (text, blocks) in [
            (line("2", "", 2, BLOCK), 2),
            (line("2", "", 3, BLOCK), 3),
            (line("3", "fio-3.36;", 2, BLOCK), 2),
            (line("4", "fio-3.36;", 3, BLOCK), 3),
            (line("5", "fio-3.36;", 3, BLOCK_5), 3),
        ] {
            let (jobs, refused) = jobs(&format!("fio: note\n{text}\n"));
            assert!(refused.is_empty(), "{refused:?}");
            let [job] = jobs.as_slice() else { panic!("{jobs:?}") };
            assert_eq!((job.line, job.name.as_str(), job.disk_busy), (2, "job", Some(77.25)));
            assert_eq!((job.cpu_user, job.cpu_system), (Some(1.5), Some(2.5)));
            let write = job.directions[1].as_ref().expect("write");
            assert_eq!(
                (write.bandwidth_kib_s, write.io_kib, write.iops),
                (Some(400.0), Some(800.0), Some(100.0))
            );
            assert_eq!(write.total, Latency::new(42.0, 22.0));
            assert_eq!(write.percentile(50.0), Some(50.0));
            assert_eq!(write.bandwidth_mean_kib_s, Some(400.5));
            assert_eq!(job.directions[2].is_some(), blocks == 3);
        }
    }

    #[test]
    fn a_line_that_is_not_whole_is_refused() {
        let good = line("3", "fio-3.36;", 2, BLOCK);
        let refused = |text: &str| jobs(text).1.into_iter().map(|(_, reason)| reason).collect::<String>();
        assert!(refused(&good.replacen("400.5", "400,5", 1)).contains("expected a number in field 86"));
        assert!(refused(&good.replacen("3;", "7;", 1)).contains("expected a terse version"));
        assert!(refused(&good[..good.len() / 2]).contains("expected the shares"));
        assert!(refused(&good[..good.len() - 80]).contains("the line is cut"));
        assert!(refused(&good.replacen(";4.0;", ";nan;", 1)).is_empty(), "the deviation is not used");
        assert!(refused(&good.replacen(";22.0;", ";nan;", 1)).contains("found 'nan'"));
    }
}
