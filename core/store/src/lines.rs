//! Files of JSON lines: appended one whole line at a time, and read back even when the last line was cut short.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StoreError;

/// An open file of JSON lines.
#[derive(Debug)]
pub struct Lines {
    file: File,
    path: PathBuf,
}

impl Lines {
    /// Opens for appending, and makes the file where it is missing.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file =
            OpenOptions::new().create(true).append(true).open(path).map_err(StoreError::io("open", path))?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// Appends one value as one line, in one write.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn append(&mut self, value: &impl Serialize) -> Result<(), StoreError> {
        let mut line = to_json(value, &self.path)?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(StoreError::io("write", &self.path))
    }

    /// Appends many values, in one write.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take them.
    pub fn append_all<T: Serialize>(&mut self, values: &[T]) -> Result<(), StoreError> {
        let mut text = Vec::new();
        for value in values {
            let found = std::any::type_name::<T>();
            let unwritable = |_| StoreError::Unwritable { path: self.path.clone(), found };
            serde_json::to_writer(&mut text, value).map_err(unwritable)?;
            text.push(b'\n');
        }
        self.file.write_all(&text).map_err(StoreError::io("write", &self.path))
    }

    /// Waits until all lines are on the disk.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(StoreError::io("sync", &self.path))
    }
}

/// All values of a file; none when it does not exist. A last line without its end was cut short by a crash and is
/// left out: it was never promised.
///
/// # Errors
/// [`StoreError::Damaged`] for any other line that is not a value.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    each(path, |value| all.push(value))?;
    Ok(all)
}

/// Hands on the values of a file one by one, as [`read`] gives them all.
///
/// # Errors
/// As [`read`].
pub fn each<T: DeserializeOwned>(path: &Path, mut take: impl FnMut(T)) -> Result<(), StoreError> {
    let mut file = match File::open(path) {
        Ok(file) => BufReader::with_capacity(1 << 16, file),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(StoreError::io("read", path)(e)),
    };
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        file.read_until(b'\n', &mut text).map_err(StoreError::io("read", path))?;
        match text.as_slice() {
            [] => break,
            [b'\n'] => {}
            [whole @ .., b'\n'] => {
                let damaged = |e: serde_json::Error| StoreError::Damaged {
                    path: path.to_path_buf(),
                    line,
                    reason: e.to_string(),
                };
                take(serde_json::from_slice(whole).map_err(damaged)?);
            }
            _ => break,
        }
    }
    Ok(())
}

pub(crate) fn to_json<T: Serialize>(value: &T, path: &Path) -> Result<Vec<u8>, StoreError> {
    let found = std::any::type_name::<T>();
    serde_json::to_vec(value).map_err(|_| StoreError::Unwritable { path: path.to_path_buf(), found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_short_is_left_out_and_a_damaged_one_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x.jsonl");
        assert_eq!(read::<u32>(&path).expect("missing is empty"), Vec::<u32>::new());
        let mut lines = Lines::open(&path).expect("open");
        for value in [1, 2] {
            lines.append(&value).expect("append");
        }
        lines.sync().expect("sync");
        std::fs::write(&path, "1\n2\n3").expect("cut");
        assert_eq!(read::<u32>(&path).expect("read"), [1, 2]);
        std::fs::write(&path, "1\nx\n3\n").expect("damage");
        let error = read::<u32>(&path).expect_err("damaged").to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
