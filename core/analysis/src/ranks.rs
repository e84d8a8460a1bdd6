//! Whether one list of values tends to be greater than another, from their order alone.
//!
//! Owns the rank test and Cliff's delta. An infinite value stands for one that is known only to lie beyond all others.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// As many values in all as the exact distribution is used for, without and with ties. Beyond them the normal
/// approximation is closer than any figure that is shown.
const EXACT: usize = 40;
const EXACT_TIED: usize = 16;

/// The test of Wilcoxon, Mann and Whitney (H. B. Mann and D. R. Whitney, Ann. Math. Stat. 18:50, 1947), two-sided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankTest {
    /// In how many pairs the first list's value is the greater; ties count one half.
    pub u: f64,
    /// Twice the smaller tail, at most 1.
    pub p: f64,
    /// The least `p` that lists of these lengths can have: above 0.05 the test cannot show anything.
    pub least_p: f64,
    /// True: from the distribution over all orders, ties included. False: by the normal approximation with the
    /// corrections for ties and continuity.
    pub exact: bool,
    /// Cliff's delta: how much more often the first list's value is the greater than the smaller, -1 to 1
    /// (N. Cliff, Psychol. Bull. 114:494, 1993).
    pub cliffs_delta: f64,
}

/// The distributions that were needed so far, by the lengths of the lists.
#[derive(Debug, Default)]
pub struct RankTables {
    untied: HashMap<(usize, usize), Vec<f64>>,
}

impl RankTables {
    /// Tests two lists; `None` when either is empty.
    pub fn test(&mut self, a: &[f64], b: &[f64]) -> Option<RankTest> {
        let (n, m) = (a.len(), b.len());
        if n == 0 || m == 0 {
            return None;
        }
        let (ranks, ties) = doubled_ranks(a, b);
        let sum: usize = ranks[..n].iter().sum();
        let u = sum as f64 / 2.0 - (n * (n + 1)) as f64 / 2.0;
        let pairs = (n * m) as f64;
        let tied = !ties.is_empty();
        let exact = n + m <= if tied { EXACT_TIED } else { EXACT };
        let (p, least_p) = match (exact, tied) {
            (false, _) => (approximate(u, n, m, &ties), 0.0),
            (true, true) => tails(&distribution(&ranks, n), sum),
            (true, false) => {
                let all = || distribution(&(1..=n + m).map(|rank| 2 * rank).collect::<Vec<_>>(), n);
                tails(self.untied.entry((n, m)).or_insert_with(all), sum)
            }
        };
        Some(RankTest { u, p, least_p, exact, cliffs_delta: 2.0 * u / pairs - 1.0 })
    }
}

/// Twice the mean rank of each value of `a` and then `b` among all, and the lengths of the ties.
fn doubled_ranks(a: &[f64], b: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&i, &j| all[i].total_cmp(&all[j]));
    let (mut ranks, mut ties) = (vec![0; all.len()], Vec::new());
    let mut before = 0;
    for same in order.chunk_by(|&i, &j| all[i] == all[j]) {
        for &index in same {
            ranks[index] = 2 * before + same.len() + 1;
        }
        if same.len() > 1 {
            ties.push(same.len());
        }
        before += same.len();
    }
    (ranks, ties)
}

/// How many choices of `n` of the ranks have each sum.
fn distribution(ranks: &[usize], n: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut counts = vec![vec![0.0; most + 1]; n + 1];
    counts[0][0] = 1.0;
    for &rank in ranks {
        for chosen in (1..=n).rev() {
            let (less, more) = counts.split_at_mut(chosen);
            for sum in rank..=most {
                more[0][sum] += less[chosen - 1][sum - rank];
            }
        }
    }
    counts.swap_remove(n)
}

/// Twice the smaller tail at `sum`, and the least that can be.
fn tails(counts: &[f64], sum: usize) -> (f64, f64) {
    let all: f64 = counts.iter().sum();
    let below: f64 = counts[..=sum].iter().sum();
    let above: f64 = counts[sum..].iter().sum();
    let mut possible = counts.iter().copied().filter(|&count| count > 0.0);
    let least = possible.next().unwrap_or(all);
    let least = least.min(possible.next_back().unwrap_or(least));
    let twice = |tail: f64| (2.0 * tail / all).min(1.0);
    (twice(below.min(above)), twice(least))
}

fn approximate(u: f64, n: usize, m: usize, ties: &[usize]) -> f64 {
    let (pairs, all) = ((n * m) as f64, (n + m) as f64);
    let tied: f64 = ties.iter().map(|&t| (t as f64).powi(3) - t as f64).sum();
    let variance = pairs / 12.0 * (all + 1.0 - tied / (all * (all - 1.0)));
    let z = ((u - pairs / 2.0).abs() - 0.5) / variance.sqrt();
    if variance > 0.0 { (2.0 * Normal::standard().sf(z)).min(1.0) } else { 1.0 }
}
