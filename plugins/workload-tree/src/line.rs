//! The line that the probe's tree job prints.
//!
//! Owns the decision whether it is the result that was asked for. It must never believe a line that does not add up.

use serde::Deserialize;
use thiserror::Error;

/// One result.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Line {
    pub files: u64,
    pub copies: u64,
    /// Of one tree.
    pub bytes: u64,
    /// When the last copy ended.
    pub wall_s: f64,
    /// When all was on the disk.
    pub synced_s: f64,
    /// When each copy ended.
    pub each_s: Vec<f64>,
    ok: bool,
}

/// Why a line is not the result.
#[derive(Debug, PartialEq, Error)]
pub enum LineError {
    #[error("expected one line of JSON with \"job\":\"tree\", found none")]
    None,
    #[error("its line is broken: {0}")]
    Broken(String),
    #[error("expected {asked} trees of {files} files, found {found} of {found_files}")]
    Other { asked: u64, files: u64, found: u64, found_files: u64 },
    #[error("a copy has not all files and bytes of its tree")]
    Incomplete,
    #[error("expected times above 0 in order, found {wall_s} s, {synced_s} s and {each_s:?}")]
    Times { wall_s: f64, synced_s: f64, each_s: Vec<f64> },
}

impl Line {
    /// Reads what the job printed for `copies` trees of `files` files.
    ///
    /// # Errors
    /// [`LineError`] when it is not that.
    pub fn read(stdout: &str, files: u64, copies: u64) -> Result<Self, LineError> {
        let line =
            stdout.lines().rfind(|line| line.starts_with("{\"job\":\"tree\"")).ok_or(LineError::None)?;
        let line: Self = serde_json::from_str(line).map_err(|e| LineError::Broken(e.to_string()))?;
        let all = usize::try_from(copies).is_ok_and(|copies| line.each_s.len() == copies);
        if line.files != files || line.copies != copies || !all {
            let (found, found_files) = (line.copies, line.files);
            return Err(LineError::Other { asked: copies, files, found, found_files });
        }
        if !line.ok {
            return Err(LineError::Incomplete);
        }
        let Self { wall_s, synced_s, each_s, .. } = &line;
        if !(each_s.iter().all(|time| *time > 0.0 && time <= wall_s) && wall_s <= synced_s) {
            return Err(LineError::Times { wall_s: *wall_s, synced_s: *synced_s, each_s: each_s.clone() });
        }
        Ok(line)
    }

    /// Files of all copies.
    #[must_use]
    pub fn all_files(&self) -> f64 {
        self.files as f64 * self.copies as f64
    }

    /// Bytes of all copies.
    #[must_use]
    pub fn all_bytes(&self) -> f64 {
        self.bytes as f64 * self.copies as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINE: &str = r#"{"job":"tree","files":10,"copies":2,"bytes":4096,"wall_s":1.5,"synced_s":2.0,"each_s":[1.25,1.5],"ok":true}"#;

    #[test]
    fn the_line_is_found_among_others() {
        let line = Line::read(&format!("cp: note\n{LINE}\n"), 10, 2).expect("good");
        assert_eq!((line.wall_s, line.each_s.as_slice()), (1.5, [1.25, 1.5].as_slice()));
        assert_eq!((line.all_files(), line.all_bytes()), (20.0, 8192.0));
    }

    #[test]
    fn what_does_not_add_up_is_refused() {
        let read = |from: &str, to: &str| Line::read(&LINE.replacen(from, to, 1), 10, 2);
        assert!(matches!(read("tree", "pi"), Err(LineError::None)));
        assert!(matches!(read("}", ""), Err(LineError::Broken(_))));
        assert!(matches!(read("1.25", "nan"), Err(LineError::Broken(_))));
        assert!(matches!(read("10", "9"), Err(LineError::Other { found_files: 9, .. })));
        assert!(matches!(read("1.25,", ""), Err(LineError::Other { .. })));
        assert!(matches!(read("\"ok\":true", "\"ok\":false"), Err(LineError::Incomplete)));
        assert!(matches!(read("1.25", "0"), Err(LineError::Times { .. })));
        assert!(matches!(read("2.0", "1.0"), Err(LineError::Times { .. })));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(cut in 0..LINE.len(), text in "\\PC{0,20}") {
            let _ = Line::read(&format!("{}{text}", &LINE[..cut]), 10, 2);
        }
    }
}
