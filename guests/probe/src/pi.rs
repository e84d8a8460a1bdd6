//! The PI job: decimals of pi by whole-number arithmetic, a load for the processor alone.
//!
//! Owns the computation, its measurement and its check. It must never use more memory than a few numbers of
//! that length, or anything but the processor.
//!
//! John Machin's formula of 1706, pi = 16 arctan(1/5) - 4 arctan(1/239), with
//! arctan(1/x) = 1/x - 1/(3 x^3) + 1/(5 x^5) - …; work grows with the square of the number of decimals.

use crate::cost::{self, Cost, timed};

/// Numbers are kept in base 10^9: the first element is the whole part, the others nine decimals each.
const BASE: u64 = 1_000_000_000;
const DECIMALS: usize = 9;
/// More elements than asked for, which take the error of the cut-off divisions.
const GUARD: usize = 2;
const MAX_DIGITS: usize = 1_000_000;
const MAX_REPEAT: usize = 10_000;

/// Published decimals: the last ten of the first 50, 100, 1000 and 10000.
const KNOWN: [(usize, &str); 4] =
    [(50, "6939937510"), (100, "3421170679"), (1000, "2164201989"), (10_000, "5256375678")];

/// What to compute.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    digits: usize,
    repeat: usize,
}

/// What came of it.
pub struct Outcome {
    decimals: String,
    each: Vec<Cost>,
    ok: bool,
}

impl Job {
    /// Reads `--digits N [--repeat R]`; `None` when that is not what the words say.
    pub fn from_options(options: &[&str]) -> Option<Self> {
        let within = |text: &str, max: usize| text.parse().ok().filter(|n| (1..=max).contains(n));
        let (digits, repeat) = match options {
            ["--digits", digits] => (digits, &"1"),
            ["--digits", digits, "--repeat", repeat] => (digits, repeat),
            _ => return None,
        };
        Some(Self { digits: within(digits, MAX_DIGITS)?, repeat: within(repeat, MAX_REPEAT)? })
    }

    pub fn run(&self) -> Outcome {
        let (decimals, first) = timed(|| pi(self.digits));
        let mut each = vec![first];
        let mut ok = agrees(&decimals);
        for _ in 1..self.repeat {
            let (again, cost) = timed(|| pi(self.digits));
            ok &= again == decimals;
            each.push(cost);
        }
        Outcome { decimals, each, ok }
    }
}

impl Outcome {
    /// One line of JSON, as the library's documentation describes it.
    pub fn json(&self) -> String {
        format!(
            r#"{{"digits":{},{},"tail":"{}","fnv64":"{:016x}","ok":{}}}"#,
            self.decimals.len(),
            cost::json(&self.each),
            &self.decimals[self.decimals.len().saturating_sub(10)..],
            fnv64(self.decimals.as_bytes()),
            self.ok
        )
    }
}

/// False when one of the published decimals is another.
fn agrees(decimals: &str) -> bool {
    KNOWN.iter().all(|&(end, ten)| decimals.get(end - 10..end).is_none_or(|found| found == ten))
}

/// The decimals of pi after the point.
fn pi(digits: usize) -> String {
    let length = 1 + digits.div_ceil(DECIMALS) + GUARD;
    let mut sum = vec![0; length];
    add_arctan(&mut sum, 16, 5, true);
    add_arctan(&mut sum, 4, 239, false);
    let mut text: String = sum[1..].iter().map(|part| format!("{part:09}")).collect();
    text.truncate(digits);
    text
}

/// Adds (or, where not `plus`, subtracts) `factor` arctan(1/`x`).
fn add_arctan(sum: &mut [u64], factor: u64, x: u64, plus: bool) {
    let mut power = vec![0; sum.len()];
    power[0] = factor;
    divide(&mut power, x);
    let mut term = power.clone();
    let mut odd = 1;
    let mut plus = plus;
    let mut zeros = 0;
    while zeros < power.len() {
        term[zeros..].copy_from_slice(&power[zeros..]);
        divide(&mut term[zeros..], odd);
        if plus {
            add(sum, &term, zeros)
        } else {
            subtract(sum, &term, zeros)
        }
        divide(&mut power[zeros..], x * x);
        odd += 2;
        plus = !plus;
        while power.get(zeros) == Some(&0) {
            term[zeros] = 0;
            zeros += 1;
        }
    }
}

fn divide(number: &mut [u64], by: u64) {
    let mut rest = 0;
    for part in number {
        let value = rest * BASE + *part;
        *part = value / by;
        rest = value % by;
    }
}

/// Adds a number whose first `zeros` elements are 0.
fn add(sum: &mut [u64], number: &[u64], zeros: usize) {
    let mut carry = 0;
    for index in (0..sum.len()).rev() {
        if index < zeros && carry == 0 {
            break;
        }
        let value = sum[index] + number[index] + carry;
        carry = u64::from(value >= BASE);
        sum[index] = value - carry * BASE;
    }
}

/// Subtracts a smaller number whose first `zeros` elements are 0.
fn subtract(sum: &mut [u64], number: &[u64], zeros: usize) {
    let mut borrow = 0;
    for index in (0..sum.len()).rev() {
        if index < zeros && borrow == 0 {
            break;
        }
        let value = sum[index] + BASE - number[index] - borrow;
        borrow = u64::from(value < BASE);
        sum[index] = value % BASE;
    }
}

/// The FNV-1a hash of 64 bits.
fn fnv64(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_published_ones() {
        assert_eq!(pi(50), "14159265358979323846264338327950288419716939937510");
        assert_eq!(&pi(1000)[990..], "2164201989");
        assert_eq!(pi(1), "1");
        for (digits, next) in [(8, '5'), (9, '3'), (10, '5')] {
            assert_eq!((pi(digits).len(), pi(digits).ends_with(next)), (digits, true));
        }
        assert!(pi(1009).starts_with(&pi(1000)), "a longer result goes on where a shorter one stops");
    }

    #[test]
    fn a_wrong_decimal_is_seen() {
        let good = pi(100);
        assert!(agrees(&good));
        assert!(agrees(&good[..60]));
        assert!(!agrees(&format!("{}0", &good[..99])));
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv64(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_line_sums_what_each_repetition_took() {
        let cost = |cycles, wall_s| Cost { cycles, wall_s };
        let outcome = Outcome { decimals: pi(5), each: vec![cost(3, 0.5), cost(4, 0.25)], ok: true };
        assert_eq!(
            outcome.json(),
            r#"{"digits":5,"repeat":2,"cycles":7,"wall_s":0.75,"each":[{"cycles":3,"wall_s":0.5},{"cycles":4,"wall_s":0.25}],"tail":"14159","fnv64":"21490e55a33d8e19","ok":true}"#
        );
        assert!(Job { digits: 60, repeat: 2 }.run().ok);
    }

    #[test]
    fn options_are_read_or_refused() {
        assert_eq!(Job::from_options(&["--digits", "7"]), Some(Job { digits: 7, repeat: 1 }));
        assert_eq!(
            Job::from_options(&["--digits", "7", "--repeat", "3"]),
            Some(Job { digits: 7, repeat: 3 })
        );
        for bad in [&["--digits"][..], &["--digits", "0"], &["--digits", "-1"], &["--digits", "9999999"], &[]]
        {
            assert_eq!(Job::from_options(bad), None);
        }
        assert_eq!(Job::from_options(&["--digits", "7", "--repeat", "0"]), None);
    }
}
