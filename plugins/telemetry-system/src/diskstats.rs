//! Lines of /proc/diskstats, of every kernel.
//!
//! Owns the order of the fields (Documentation/admin-guide/iostats.rst of Linux) and the rates that two lines make, which
//! are iostat's. Sectors are of 512 bytes, whatever the disk's are.

/// Bytes of a sector.
const SECTOR: f64 = 512.0;
const KIB: f64 = 1024.0;

/// The counters in the order of the line, behind the device's name, and their units.
pub const COUNTERS: [(&str, &str); 17] = [
    ("reads", "requests"),
    ("reads merged", "requests"),
    ("sectors read", "sectors"),
    ("time reading", "ms"),
    ("writes", "requests"),
    ("writes merged", "requests"),
    ("sectors written", "sectors"),
    ("time writing", "ms"),
    ("in flight", "requests"),
    ("time busy", "ms"),
    ("time weighted", "ms"),
    ("discards", "requests"),
    ("discards merged", "requests"),
    ("sectors discarded", "sectors"),
    ("time discarding", "ms"),
    ("flushes", "requests"),
    ("time flushing", "ms"),
];

/// Which counters the four of a partition are, up to Linux 2.6.24.
const OF_OLD_PARTITION: [usize; 4] = [0, 2, 4, 6];

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Disk<'t> {
    pub device: &'t str,
    pub counters: Counters,
}

/// The counters that a kernel has, by their place in [`COUNTERS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters(Vec<Option<u64>>);

/// `None` for what is no line of this file at all.
///
/// # Errors
/// What was expected and found, for a line that begins like one.
pub fn read(line: &str) -> Option<Result<Disk<'_>, String>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [major, minor, device, rest @ ..] = words.as_slice() else { return None };
    let number = |word: &str| word.parse::<u64>().ok().filter(|_| !word.starts_with('+'));
    if number(major).is_none() || number(minor).is_none() || number(device).is_some() || rest.is_empty() {
        return None;
    }
    if !rest.iter().all(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let numbers: Option<Vec<u64>> = rest.iter().map(|word| number(word)).collect();
    let Some(numbers) = numbers else {
        return Some(Err(format!("device {device}: expected whole numbers behind the name")));
    };
    let mut counters: Vec<Option<u64>> = vec![None; COUNTERS.len()];
    match numbers.len() {
        4 => OF_OLD_PARTITION.into_iter().zip(&numbers).for_each(|(at, value)| counters[at] = Some(*value)),
        11 | 15 | 17.. => counters.iter_mut().zip(&numbers).for_each(|(to, value)| *to = Some(*value)),
        found => {
            let found = found + 3;
            return Some(Err(format!("device {device}: expected 7, 14, 18 or 20 fields, found {found}")));
        }
    }
    Some(Ok(Disk { device, counters: Counters(counters) }))
}

impl Counters {
    /// The counters that are known, by name.
    pub fn known(&self) -> impl Iterator<Item = (&'static str, u64)> {
        COUNTERS.iter().zip(&self.0).filter_map(|((name, _), value)| Some((*name, (*value)?)))
    }

    fn value(&self, name: &str) -> Option<u64> {
        self.known().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Iostat's columns over a span, from the counters at its beginning; a counter that went backwards, because it ran
    /// over or the disk was taken away, makes none.
    pub fn rates(&self, before: &Self, span_s: f64) -> Vec<(&'static str, &'static str, f64)> {
        let grown = |name: &str| Some(self.value(name)?.checked_sub(before.value(name)?)? as f64);
        let per_second = |name: &str| grown(name).map(|grown| grown / span_s);
        let kib = |name: &str| per_second(name).map(|sectors| sectors * SECTOR / KIB);
        let ratio =
            |above: Option<f64>, below: Option<f64>| Some(above? / below.filter(|below| *below > 0.0)?);
        let size = |sectors: &str, requests: &str| {
            ratio(grown(sectors), grown(requests)).map(|sectors| sectors * SECTOR / KIB)
        };
        let rates = [
            ("r/s", "requests/s", per_second("reads")),
            ("w/s", "requests/s", per_second("writes")),
            ("rkB/s", "KiB/s", kib("sectors read")),
            ("wkB/s", "KiB/s", kib("sectors written")),
            ("rrqm/s", "requests/s", per_second("reads merged")),
            ("wrqm/s", "requests/s", per_second("writes merged")),
            ("r_await", "ms", ratio(grown("time reading"), grown("reads"))),
            ("w_await", "ms", ratio(grown("time writing"), grown("writes"))),
            ("rareq-sz", "KiB", size("sectors read", "reads")),
            ("wareq-sz", "KiB", size("sectors written", "writes")),
            ("aqu-sz", "requests", per_second("time weighted").map(|ms| ms / 1000.0)),
            ("%util", "%", per_second("time busy").map(|ms| ms / 10.0)),
            ("d/s", "requests/s", per_second("discards")),
            ("dkB/s", "KiB/s", kib("sectors discarded")),
            ("f/s", "requests/s", per_second("flushes")),
        ];
        rates.into_iter().filter_map(|(name, unit, value)| Some((name, unit, value?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Disk<'_> {
        read(text).expect("a line").expect("right")
    }

    #[test]
    fn lines_of_every_kernel_are_read() {
        for (text, fields, last) in [
            ("   8       1 sda1 10 20 30 40", 4, ("sectors written", 40)),
            ("   8       0 sda 1 2 3 4 5 6 7 8 9 10 11", 11, ("time weighted", 11)),
            ("   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", 15, ("time discarding", 15)),
            (" 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", 17, ("time flushing", 17)),
        ] {
            let known: Vec<_> = line(text).counters.known().collect();
            assert_eq!((known.len(), known.last()), (fields, Some(&last)), "{text}");
        }
        let error = read("8 0 sda 1 2 3 4 5").expect("like a line").expect_err("too short");
        assert!(error.contains("found 8"), "{error}");
        assert!(read("8 0 sda 1 2 3 4 5 6 7 8 9 10 99999999999999999999").expect("like a line").is_err());
        for other in ["", "8 0 sda", "sda 1 2 3", "1 2 3 4 5 6", "8 0 sda x", "Linux 6.1 (h) 1"] {
            assert!(read(other).is_none(), "{other}");
        }
    }

    #[test]
    fn two_lines_make_the_columns_of_iostat() {
        let before = line("8 0 vda 100 10 2048 50 200 20 4096 400 0 300 450 0 0 0 0 5 1").counters;
        let after = line("8 0 vda 150 15 4096 100 200 20 4096 400 1 1300 2450 0 0 0 0 9 1").counters;
        let rates = after.rates(&before, 2.0);
        let of = |name: &str| rates.iter().find(|rate| rate.0 == name).map(|rate| rate.2);
        let expected = [
            ("r/s", Some(25.0)),
            ("rkB/s", Some(512.0)),
            ("rrqm/s", Some(2.5)),
            ("r_await", Some(1.0)),
            ("rareq-sz", Some(20.48)),
            ("w/s", Some(0.0)),
            ("w_await", None),
            ("aqu-sz", Some(1.0)),
            ("%util", Some(50.0)),
            ("f/s", Some(2.0)),
        ];
        for (name, value) in expected {
            assert_eq!(of(name), value, "{name}");
        }
        assert_eq!(before.rates(&after, 2.0).iter().find(|rate| rate.0 == "r/s"), None);
    }
}
