//! One CSV line of bonnie++, of every version.
//!
//! Owns the layouts of the line and the forms of its cells. It must never guess: a line that fits no layout in
//! every cell is not a result.

use crate::stage::{ALL, IO_STAGES};

/// A result line.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// As bonnie++ names itself; lines before 1.9 do not say.
    pub version: Option<String>,
    /// In the order of [`crate::stage::STAGES`].
    pub stages: [Readings; ALL],
}

/// What one stage printed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// KiB, seeks or files per second.
    pub speed: Reading,
    /// Per cent.
    pub cpu: Reading,
    /// Milliseconds.
    pub latency: Reading,
}

/// One cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Reading {
    /// Empty: the stage did not run, or the version does not measure it.
    #[default]
    NotRun,
    /// `+++++`: it ran in less time than the tool dares to divide by.
    TooFast,
    Measured(f64),
}

/// Where a version keeps what, by index; a stage has its speed and its CPU share side by side.
struct Layout {
    fields: usize,
    /// What the first field begins with, for versions that start with a format number.
    formats: &'static [&'static str],
    version: Option<usize>,
    /// The data stages; `None` where the line has no room for them.
    io: Option<usize>,
    files: usize,
    latency: Option<usize>,
}

const EARLY: &[&str] = &["1.90", "1.91", "1.92"];
const MIDDLE: &[&str] = &["1.93", "1.94", "1.95", "1.96", "1.97"];

const LAYOUTS: [Layout; 5] = [
    // 1.00 to 1.03e
    Layout { fields: 27, formats: &[], version: None, io: Some(2), files: 15, latency: None },
    Layout { fields: 45, formats: EARLY, version: Some(1), io: Some(5), files: 21, latency: Some(33) },
    Layout { fields: 48, formats: MIDDLE, version: Some(1), io: Some(7), files: 24, latency: Some(36) },
    // 1.96 without data stages prints one comma too few before the number of files
    Layout { fields: 47, formats: &["1.96"], version: Some(1), io: None, files: 23, latency: Some(35) },
    // 1.98 to 2.00a
    Layout { fields: 50, formats: &["1.98"], version: Some(1), io: Some(9), files: 26, latency: Some(38) },
];

impl Record {
    /// Reads a line; `None` when it is not a result of bonnie++. A spreadsheet's `;` with decimal commas is
    /// understood.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        if line.contains(';') {
            let cells: Vec<String> = line.split(';').map(|cell| cell.trim().replace(',', ".")).collect();
            return Self::from_cells(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Self::from_cells(&line.split(',').map(str::trim).collect::<Vec<_>>())
    }

    fn from_cells(cells: &[&str]) -> Option<Self> {
        let layout = LAYOUTS.iter().find(|layout| layout.fits(cells))?;
        let mut stages = [Readings::default(); ALL];
        for (index, stage) in stages.iter_mut().enumerate() {
            if let Some(at) = layout.speed(index) {
                (stage.speed, stage.cpu) = (rate(cells[at])?, rate(cells[at + 1])?);
            }
            if let Some(first) = layout.latency {
                stage.latency = latency_ms(cells[first + index])?;
            }
        }
        let ran = stages.iter().any(|stage| stage.speed != Reading::NotRun);
        ran.then(|| Self { version: layout.version.map(|at| cells[at].to_string()), stages })
    }
}

impl Layout {
    fn fits(&self, cells: &[&str]) -> bool {
        let format = cells.first().copied().unwrap_or_default();
        let known = self.formats.is_empty() || self.formats.iter().any(|known| format.starts_with(known));
        cells.len() == self.fields && known
    }

    /// The index of a stage's speed.
    fn speed(&self, stage: usize) -> Option<usize> {
        match stage.checked_sub(IO_STAGES) {
            None => self.io.map(|first| first + 2 * stage),
            Some(stage) => Some(self.files + 2 * stage),
        }
    }
}

/// A speed or a CPU share; `None` when the cell is something else.
fn rate(cell: &str) -> Option<Reading> {
    match cell {
        "" => Some(Reading::NotRun),
        _ if cell.len() >= 3 && cell.bytes().all(|byte| byte == b'+') => Some(Reading::TooFast),
        _ => Some(Reading::Measured(positive(cell)?)),
    }
}

/// A latency with its unit.
fn latency_ms(cell: &str) -> Option<Reading> {
    if cell.is_empty() {
        return Some(Reading::NotRun);
    }
    let unit = cell.find(|c: char| c.is_ascii_alphabetic())?;
    let microseconds = match &cell[unit..] {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        _ => return None,
    };
    Some(Reading::Measured(positive(&cell[..unit])? * microseconds / 1e3))
}

/// A number without sign or exponent.
fn positive(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Reading::{Measured, NotRun, TooFast};

    fn stage(line: &str, index: usize) -> (Reading, Reading, Reading) {
        let Readings { speed, cpu, latency } = Record::parse(line).expect(line).stages[index];
        (speed, cpu, latency)
    }

    const V1: &str = "alpha,2G,30111,91,41222,17,20333,9,33444,88,50555,12,181.6,1,16,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91";
    const V45: &str = "1.91,1.91c,beta,1G,8k,512,99,41222,17,20333,9,1444,88,50555,12,1815,31,16,,,,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91,11us,22ms,3s,44us,55us,66ms,1us,2us,3us,4us,5us,6ms";
    const V47: &str = "1.96,1.96,gamma,1,1300000001,,,,,,,,,,,,,,40,16,16,,,801,14,802,12,803,4,804,16,805,13,806,3,,,,,,,811ms,812ms,813ms,814ms,815ms,816us";
    const V48: &str = "1.97,1.97,delta,1,1300000002,4G,,,,41222,17,20333,9,,,50555,12,181.6,31,16,,,,,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91,,454ms,174ms,,98188us,2s,5985us,563us,583us,960us,32us,259us";
    const V50: &str = "1.98,2.00a,epsilon,2,1300000003,128M,,8192,5,1271,90,+++++,+++,60222,102,2172,93,+++++,+++,3015,44,,,,,,,,,,,,,,,,,,10313us,4724us,316us,7714us,267us,13221us,,,,,,";

    #[test]
    fn every_layout_finds_its_cells() {
        assert_eq!(stage(V1, 0), (Measured(30111.0), Measured(91.0), NotRun));
        assert_eq!(stage(V1, 5), (Measured(181.6), Measured(1.0), NotRun));
        assert_eq!(stage(V1, 7), (TooFast, TooFast, NotRun));
        assert_eq!(stage(V1, 11), (Measured(2510.0), Measured(91.0), NotRun));
        assert_eq!(stage(V45, 2), (Measured(20333.0), Measured(9.0), Measured(3000.0)));
        assert_eq!(stage(V45, 11), (Measured(2510.0), Measured(91.0), Measured(6.0)));
        assert_eq!(stage(V47, 1), (NotRun, NotRun, NotRun));
        assert_eq!(stage(V47, 6), (Measured(801.0), Measured(14.0), Measured(811.0)));
        assert_eq!(stage(V47, 11), (Measured(806.0), Measured(3.0), Measured(0.816)));
        assert_eq!(stage(V48, 0), (NotRun, NotRun, NotRun));
        assert_eq!(stage(V48, 4), (Measured(50555.0), Measured(12.0), Measured(98.188)));
        assert_eq!(stage(V50, 1), (TooFast, TooFast, Measured(4.724)));
        assert_eq!(stage(V50, 2), (Measured(60222.0), Measured(102.0), Measured(0.316)));
        assert_eq!(stage(V50, 6), (NotRun, NotRun, NotRun));
    }

    #[test]
    fn versions_are_told_where_the_line_says_them() {
        let version = |line| Record::parse(line).expect(line).version;
        assert_eq!(version(V1), None);
        assert_eq!(version(V50).as_deref(), Some("2.00a"));
    }

    #[test]
    fn files_may_say_their_sizes_and_a_name_may_be_missing() {
        let sizes = V1.replace(",16,901,", ",16:4096:128/10,901,");
        assert_eq!(stage(&sizes, 6).0, Measured(901.0));
        assert_eq!(stage(&V1.replace("alpha", ""), 1).0, Measured(41222.0));
    }

    #[test]
    fn a_decimal_comma_is_a_decimal_point() {
        let line = V1.replace(',', ";").replace("181.6", "181,6");
        assert_eq!(stage(&line, 5).0, Measured(181.6));
    }

    #[test]
    fn what_does_not_fit_in_every_cell_is_no_result() {
        let bad = [
            V1.replace("41222", "4122x"),
            V1.replace("41222", "-41222"),
            V1.replace("41222", "++"),
            V1.replace("41222", "inf"),
            format!("{V1},1"),
            V48.replace("454ms", "454m"),
            V48.replace("454ms", "454"),
            V48.replacen("1.97", "3.00", 1),
            V47.replace(",,,,,,,,40", ",,,,,,,,,40").replacen("1.96", "1.98", 1),
            ",".repeat(26),
            String::new(),
        ];
        for line in bad {
            assert_eq!(Record::parse(&line), None, "{line}");
        }
    }
}
