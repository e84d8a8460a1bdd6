//! Volume groups and logical volumes: what LVM is asked, what it reports, and how what is ours is made and removed.
//!
//! Every logical volume that is made here has the tag [`TAG`], and is removed by its name and this tag, so that one of
//! the same name that somebody else has made is never touched.

mod group;
mod report;
mod volume;

pub use group::{Group, ask_groups, chosen_group, option};
pub use report::LvReport;
pub use volume::{Lv, TAG, ask_device};

/// Seconds that a command of LVM may take; it waits for its locks and for udev.
const TIMEOUT_S: f64 = 120.0;
