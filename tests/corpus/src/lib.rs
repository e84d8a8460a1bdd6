//! Holds the readers of this workspace against real files whose right values are known.
//!
//! Owns the frame: rows, claims, verdicts and how they are shown. What the words of a kind mean is in the kind's own
//! module. It must never pass over a claim: each has a verdict.

pub mod bonnie;
pub mod claim;
pub mod domxml;
pub mod fio;
pub mod guest;
pub mod hep;
pub mod iostat;
pub mod iperf;
pub mod kinds;
pub mod offered;
pub mod row;
pub mod verdict;
pub mod xencfg;
pub mod xenmon;
pub mod zcav;

pub use claim::{Claim, claims};
pub use offered::Offered;
pub use row::{Row, rows};
pub use verdict::{Kind, Verdict};
