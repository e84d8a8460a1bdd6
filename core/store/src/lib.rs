//! What is kept on disk: run directories with all that a run measured, and journals of what it created.
//!
//! Owns the files' names and formats. It must never interpret a number or do an undo.

mod check;
mod error;
mod history;
mod import_directory;
pub mod journal;
pub mod lines;
mod recordings;
pub mod run_directory;
mod samples;
mod seal;
mod writing;

pub use check::{Checked, Finding, check};
pub use error::StoreError;
pub use history::History;
pub use import_directory::ImportDirectory;
pub use journal::{Journal, Pending};
pub use recordings::recordings;
pub use run_directory::{Raw, RunDirectory};
pub use samples::Round;
pub use writing::is_written;
