//! Results that were measured elsewhere, read by the plugin that knows their tool.
//!
//! Owns the way from a file that people kept to results. It must never understand a tool's output itself: that is
//! the plugins' part.

mod cells;
mod error;
mod names;
mod pieces;
mod run;
mod source;

pub use cells::Labels;
pub use error::ImportError;
pub use pieces::{Found, Reader};
pub use run::{ImportRun, Summary};
use source::Source;
