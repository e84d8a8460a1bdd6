//! Results that were measured elsewhere, read by the plugin that knows their tool.
//!
//! Owns the way from a file that people kept to results. It must never understand a tool's output itself: that is
//! the plugins' part.

mod pieces;
mod source;

pub use pieces::{Found, Reader};
pub use source::Source;
