//! The tree job: equal trees of files, copied at once by `cp`.
//!
//! Owns the trees, which depend on the number of files alone, and the times of the copies. It must never touch anything
//! outside the folder it is given.
//!
//! The sizes follow a table that resembles `/usr`: many small files and a few of more than a MiB, 21 kB on average.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use crate::words::within;

const MAX_FILES: u64 = 10_000_000;
const MAX_COPIES: u64 = 100;
const FILES_PER_FOLDER: u64 = 16;
const FOLDERS_PER_FOLDER: u64 = 64;
/// Of a thousand files, how many have from 2^6 to 2^7-1 bytes, from 2^7 to 2^8-1, and so on up to 2^21-1.
const SIZES: [u64; 15] = [39, 60, 80, 110, 150, 160, 140, 100, 70, 42, 24, 12, 7, 3, 3];
const SMALLEST: u32 = 6;

/// `copies` trees of `files` files in `folder`.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    files: u64,
    copies: u64,
    folder: PathBuf,
}

/// What one verb came to: a line of JSON, or why there is none.
type Line = io::Result<String>;

impl Job {
    /// Reads `--files N --copies C --folder PATH`; `None` when that is not what the words say.
    pub fn from_options(options: &[&str]) -> Option<Self> {
        let ["--files", files, "--copies", copies, "--folder", folder] = options else { return None };
        let (files, copies) = (within(files, 1, MAX_FILES)?, within(copies, 1, MAX_COPIES)?);
        Some(Self { files, copies, folder: folder.into() })
    }

    /// Makes the trees that are to be copied, and waits until they are on the disk.
    pub fn make(&self) -> Line {
        let content = content(largest());
        for copy in 1..=self.copies {
            self.plant(&self.source(copy), &content)?;
        }
        sync(&self.folder)?;
        let Self { files, copies, .. } = self;
        Ok(format!(r#"{{"job":"tree","files":{files},"copies":{copies},"bytes":{}}}"#, self.bytes()))
    }

    /// Copies all trees at once, counts what arrived, and tells the times.
    pub fn copy(&self) -> Line {
        let start = Instant::now();
        let times: Vec<io::Result<f64>> = thread::scope(|scope| {
            let copies: Vec<_> =
                (1..=self.copies).map(|copy| scope.spawn(move || self.copy_one(copy, start))).collect();
            copies
                .into_iter()
                .map(|copy| copy.join().unwrap_or_else(|_| Err(io::Error::other("a thread broke"))))
                .collect()
        });
        let wall_s = start.elapsed().as_secs_f64();
        let times = times.into_iter().collect::<io::Result<Vec<f64>>>()?;
        sync(&self.folder)?;
        let synced_s = start.elapsed().as_secs_f64();
        let mut ok = true;
        for copy in 1..=self.copies {
            ok &= count(&self.target(copy))? == (self.files, self.bytes());
        }
        let mut each = String::new();
        for (at, time) in times.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(each, "{comma}{time}").map_err(io::Error::other)?;
        }
        let Self { files, copies, .. } = self;
        let bytes = self.bytes();
        Ok(format!(
            r#"{{"job":"tree","files":{files},"copies":{copies},"bytes":{bytes},"wall_s":{wall_s},"synced_s":{synced_s},"each_s":[{each}],"ok":{ok}}}"#
        ))
    }

    /// Seconds from the common start to the end of one copy.
    fn copy_one(&self, copy: u64, start: Instant) -> io::Result<f64> {
        let (from, to) = (self.source(copy), self.target(copy));
        run(Command::new("cp").arg("-a").arg("--").args([from, to]))?;
        Ok(start.elapsed().as_secs_f64())
    }

    fn source(&self, copy: u64) -> PathBuf {
        self.folder.join(format!("source-{copy}"))
    }

    fn target(&self, copy: u64) -> PathBuf {
        self.folder.join(format!("copy-{copy}"))
    }

    /// Of one tree.
    fn bytes(&self) -> u64 {
        (0..self.files).map(size).sum()
    }

    fn plant(&self, root: &Path, content: &[u8]) -> io::Result<()> {
        let mut folder = PathBuf::new();
        for file in 0..self.files {
            let number = file / FILES_PER_FOLDER;
            if file % FILES_PER_FOLDER == 0 {
                folder = root
                    .join(format!("d{}", number / FOLDERS_PER_FOLDER))
                    .join(format!("d{}", number % FOLDERS_PER_FOLDER));
                fs::create_dir_all(&folder)?;
            }
            let length = usize::try_from(size(file)).map_err(io::Error::other)?;
            // Files begin at different places, so that no two hold the same blocks.
            let from = usize::try_from(random(file ^ 1) % (1 << 20)).map_err(io::Error::other)?;
            File::create(folder.join(format!("f{file}")))?.write_all(&content[from..from + length])?;
        }
        Ok(())
    }
}

/// Bytes of a file.
fn size(file: u64) -> u64 {
    let dice = random(file << 1);
    let mut rank = dice % 1000;
    let mut power = SMALLEST;
    for share in SIZES {
        if rank < share {
            break;
        }
        rank -= share;
        power += 1;
    }
    let least = 1_u64 << power;
    least + (dice >> 32) % least
}

fn largest() -> usize {
    // Where a file begins in the content, and how long it can be.
    (1 << 20) + (1 << (SMALLEST as usize + SIZES.len()))
}

/// Bytes that do not compress.
fn content(length: usize) -> Vec<u8> {
    (0..length.div_ceil(8) as u64).flat_map(|at| random(!at).to_le_bytes()).take(length).collect()
}

/// The number at a place of a fixed sequence (SplitMix64, Steele and others 2014).
fn random(place: u64) -> u64 {
    let mut z = place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Files and bytes below a folder.
fn count(folder: &Path) -> io::Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (more, length) =
            if entry.file_type()?.is_dir() { count(&entry.path())? } else { (1, entry.metadata()?.len()) };
        files += more;
        bytes += length;
    }
    Ok((files, bytes))
}

fn sync(folder: &Path) -> io::Result<()> {
    run(Command::new("sync").arg("-f").arg(folder))
}

fn run(command: &mut Command) -> io::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status.map_err(|error| io::Error::other(format!("cannot run {name}: {error}")))? {
        status if status.success() => Ok(()),
        status => Err(io::Error::other(format!("{name} ended with {status}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_those_of_the_table() {
        assert_eq!(SIZES.iter().sum::<u64>(), 1000);
        let sizes: Vec<u64> = (0..36_000).map(size).collect();
        let total: u64 = sizes.iter().sum();
        assert!((700_000_000..820_000_000).contains(&total), "{total}");
        let small = sizes.iter().filter(|size| **size < 4096).count();
        assert!((21_000..22_200).contains(&small), "{small}");
        assert_eq!(sizes.iter().filter(|size| !(64..1 << 21).contains(*size)).count(), 0);
        assert_eq!(&sizes[..3], &[size(0), size(1), size(2)], "the same every time");
    }

    #[test]
    fn content_reaches_every_file() {
        assert_eq!(content(11).len(), 11);
        let end = (0..1000).map(|file| random(file ^ 1) % (1 << 20) + size(file)).max();
        assert!(end.is_some_and(|end| end <= largest() as u64));
    }

    #[test]
    fn options_are_read_whole() {
        let job = Job::from_options(&["--files", "7", "--copies", "2", "--folder", "/x"]);
        assert_eq!(job, Some(Job { files: 7, copies: 2, folder: "/x".into() }));
        assert_eq!(Job::from_options(&["--files", "0", "--copies", "2", "--folder", "/x"]), None);
        assert_eq!(Job::from_options(&["--files", "7"]), None);
    }
}
