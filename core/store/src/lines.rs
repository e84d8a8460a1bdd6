//! Files of JSON lines: appended one whole line at a time, and read back even when the last line was cut short.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{StoreError, seal};

/// An open file of JSON lines.
#[derive(Debug)]
pub struct Lines {
    file: File,
    path: PathBuf,
}

impl Lines {
    /// Opens for appending, and makes the file where it is missing. A last line without its end, which a crash cut
    /// short, is removed: it was never promised, and the next one must not become its end.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        let whole = whole_length(&file).map_err(StoreError::io("read", path))?;
        file.set_len(whole).map_err(StoreError::io("mend", path))?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Appends one value as one line, in one write.
    ///
    /// # Errors
    /// [`StoreError`] when the disk does not take it.
    pub fn append(&mut self, value: &impl Serialize) -> Result<(), StoreError> {
        let mut line = to_json(value, &self.path)?;
        seal::close(&mut line, 0);
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
            let start = text.len();
            serde_json::to_writer(&mut text, value).map_err(unwritable)?;
            seal::close(&mut text, start);
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

/// Bytes up to the end of the last whole line.
fn whole_length(file: &File) -> std::io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut piece = [0; 4096];
    while end > 0 {
        let start = end.saturating_sub(piece.len() as u64);
        let piece = &mut piece[..usize::try_from(end - start).unwrap_or_default()];
        file.read_exact_at(piece, start)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// One line of a file.
pub enum Line<'a> {
    /// A value without its seal, and whether it had one.
    Whole { text: &'a [u8], sealed: bool },
    /// Not what was written.
    Damaged { text: &'a [u8], reason: String },
    /// Without its end: a crash cut it short, and it was never promised.
    Cut,
}

/// Hands on the lines of a file with their numbers, from 1; there are none when it does not exist.
///
/// # Errors
/// [`StoreError::Io`].
pub fn scan(path: &Path, mut take: impl FnMut(usize, Line<'_>)) -> Result<(), StoreError> {
    let mut file = match File::open(path) {
        Ok(file) => BufReader::with_capacity(1 << 16, file),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(StoreError::io("read", path)(e)),
    };
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        file.read_until(b'\n', &mut text).map_err(StoreError::io("read", path))?;
        match text.pop() {
            None => break,
            Some(b'\n') if text.is_empty() => {}
            Some(b'\n') => match seal::open(&mut text) {
                Ok(sealed) => take(number, Line::Whole { text: &text, sealed }),
                Err(reason) => take(number, Line::Damaged { text: &text, reason }),
            },
            Some(_) => take(number, Line::Cut),
        }
    }
    Ok(())
}

/// All values of a file; none when it does not exist. A last line without its end is left out.
///
/// # Errors
/// [`StoreError::Damaged`] for any other line that is not a value.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    let mut damages = Vec::new();
    each(path, &mut damages, |value| all.push(value))?;
    damages.into_iter().next().map_or(Ok(all), Err)
}

/// Hands on the values of a file one by one, and collects what is wrong with the lines that are none.
///
/// # Errors
/// [`StoreError::Io`].
pub fn each<T: DeserializeOwned>(
    path: &Path,
    damages: &mut Vec<StoreError>,
    mut take: impl FnMut(T),
) -> Result<(), StoreError> {
    let damaged = |line, reason| StoreError::Damaged { path: path.to_path_buf(), line, reason };
    scan(path, |number, line| match line {
        Line::Whole { text, .. } => match serde_json::from_slice(text) {
            Ok(value) => take(value),
            Err(e) => damages.push(damaged(number, e.to_string())),
        },
        Line::Damaged { reason, .. } => damages.push(damaged(number, reason)),
        Line::Cut => {}
    })
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

    #[test]
    fn a_line_that_was_changed_is_damaged() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x.jsonl");
        let value = |n: u32| std::collections::BTreeMap::from([("n".to_string(), n)]);
        let mut lines = Lines::open(&path).expect("open");
        lines.append_all(&[value(1), value(2)]).expect("append");
        lines.append(&value(3)).expect("append");
        type Values = Vec<std::collections::BTreeMap<String, u32>>;
        assert_eq!(
            read::<std::collections::BTreeMap<String, u32>>(&path).expect("read"),
            [value(1), value(2), value(3)]
        );
        let text = std::fs::read_to_string(&path).expect("text");
        std::fs::write(&path, text.replace("\"n\":2", "\"n\":7")).expect("change");
        let (mut damages, mut good) = (Vec::new(), Values::new());
        each(&path, &mut damages, |value| good.push(value)).expect("read");
        assert_eq!(good, [value(1), value(3)]);
        assert!(damages[0].to_string().contains("line 2") && damages.len() == 1, "{damages:?}");
    }

    #[test]
    fn the_line_after_one_that_was_cut_short_is_whole() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x.jsonl");
        for text in ["1\n2\n3", "3", "", &format!("1\n{}", "x".repeat(10_000))] {
            std::fs::write(&path, text).expect("cut");
            Lines::open(&path).expect("open").append(&4).expect("append");
            let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
            assert_eq!(std::fs::read_to_string(&path).expect("text"), format!("{whole}4\n"));
        }
    }
}
