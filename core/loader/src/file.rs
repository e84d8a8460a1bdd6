//! A plugin's file: whose it is, who may change it, and what is in it.
//!
//! Owns the checks of owner and mode, the one descriptor that everything after them uses, and the checksum. It
//! must never run what is in the file.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf, absolute};

use rustix::fs::{CWD, Mode, OFlags, openat};
use sha2::{Digest, Sha256};

use crate::Broken;

const OTHERS_WRITE: u32 = 0o022;
const EVERY_USER_WRITES: u32 = 0o002;
const STICKY: u32 = 0o1000;
const EXECUTABLE: u32 = 0o111;
/// What a script, and a program, begins with: the kernel runs both, and a shell would run whatever else there is.
const STARTS: [&[u8]; 2] = [b"#!", b"\x7fELF"];
/// Bytes of a text that are read at most.
const MOST_TEXT: u64 = 4 << 20;

/// How much is asked of a file and of the folders above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Beside the program: whoever may write there may write the program itself. Not every user may.
    Bundled,
    /// Anywhere else: all of them belong to root or to the user (to root alone when root runs this), and nobody
    /// else may write.
    Strict,
}

/// What a file is to be run as; its name says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Library,
    Script,
}

impl Form {
    pub(crate) fn of(path: &Path) -> Self {
        if path.extension().is_some_and(|extension| extension == "so") { Self::Library } else { Self::Script }
    }
}

/// A file that passed the checks, open for reading.
#[derive(Debug)]
pub(crate) struct Checked {
    pub file: File,
    /// Without any link in it.
    pub path: PathBuf,
    pub form: Form,
}

impl Checked {
    /// SHA-256 of what the descriptor reads, in hexadecimal.
    pub(crate) fn sha256(&self) -> io::Result<String> {
        let mut hash = Sha256::new();
        let mut block = vec![0; 1 << 16];
        let mut offset = 0;
        loop {
            match self.file.read_at(&mut block, offset)? {
                0 => return Ok(format!("{:x}", hash.finalize())),
                length => {
                    hash.update(&block[..length]);
                    offset += length as u64;
                }
            }
        }
    }
}

/// Opens a plugin's file if it passes the checks.
pub(crate) fn check(path: &Path, rule: Rule) -> Result<Checked, Broken> {
    let (file, real, found) = open(path, rule)?;
    let form = Form::of(path);
    if form == Form::Script && found.mode() & EXECUTABLE == 0 {
        return Err(Broken::NotExecutable(real));
    }
    if form == Form::Script && !runs_by_itself(&file).map_err(|e| unreadable(&real, e))? {
        return Err(Broken::NoInterpreter);
    }
    Ok(Checked { file, path: real, form })
}

fn runs_by_itself(file: &File) -> io::Result<bool> {
    let mut start = [0; 4];
    let length = file.read_at(&mut start, 0)?;
    Ok(STARTS.iter().any(|one| start[..length].starts_with(one)))
}

fn unreadable(path: &Path, source: io::Error) -> Broken {
    Broken::Unreadable { path: path.into(), source }
}

/// The text of a small file that passes the same checks; `None` when there is none.
pub(crate) fn read(path: &Path, rule: Rule) -> Result<Option<String>, Broken> {
    let file = match open(path, rule) {
        Err(Broken::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        opened => opened?.0,
    };
    let mut text = String::new();
    file.take(MOST_TEXT).read_to_string(&mut text).map_err(|e| unreadable(path, e))?;
    Ok(Some(text))
}

/// Follows links, checks every folder, and the file by its open descriptor.
fn open(path: &Path, rule: Rule) -> Result<(File, PathBuf, Metadata), Broken> {
    let named = absolute(path).map_err(|e| unreadable(path, e))?;
    let real = named.canonicalize().map_err(|e| unreadable(path, e))?;
    let depth = if rule == Rule::Strict { usize::MAX } else { 1 };
    for folder in real.ancestors().skip(1).take(depth).chain(named.ancestors().skip(1).take(depth)) {
        let found = fs::metadata(folder).map_err(|e| unreadable(folder, e))?;
        check_one(folder, &found, rule)?;
    }
    // Without NONBLOCK a named pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(CWD, &real, flags, Mode::empty()).map_err(|e| unreadable(&real, e.into()))?;
    let file = File::from(file);
    let found = file.metadata().map_err(|e| unreadable(&real, e))?;
    if !found.is_file() {
        return Err(Broken::NotAFile);
    }
    check_one(&real, &found, rule)?;
    Ok((file, real, found))
}

fn check_one(path: &Path, found: &Metadata, rule: Rule) -> Result<(), Broken> {
    let me = rustix::process::geteuid().as_raw();
    let forbidden = match rule {
        Rule::Bundled => EVERY_USER_WRITES,
        Rule::Strict if found.uid() != 0 && found.uid() != me => {
            return Err(Broken::Owner { path: path.into(), uid: found.uid() });
        }
        Rule::Strict => OTHERS_WRITE,
    };
    let not_mine = found.mode() & STICKY != 0 || (found.uid() != me && me != 0);
    match found.mode() & forbidden {
        0 => Ok(()),
        _ if not_mine => Err(Broken::Shared(path.into())),
        _ => Err(Broken::Writable(path.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
    }

    /// A folder that nobody else may change anything above of.
    fn folder() -> tempfile::TempDir {
        tempfile::Builder::new()
            .prefix(".crossvisor-test-")
            .tempdir_in(std::env::var_os("HOME").expect("HOME"))
            .expect("folder")
    }

    #[test]
    fn a_file_or_a_folder_that_others_may_write_is_refused() {
        let folder = folder();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("folder");
        let file = inner.join("libcrossvisor_x.so");
        fs::write(&file, "abc").expect("file");
        set(&file, 0o644);
        let sha256 = check(&file, Rule::Strict).expect("good").sha256().expect("read");
        assert_eq!(sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        for (rule, mode) in [(Rule::Strict, 0o664), (Rule::Strict, 0o646), (Rule::Bundled, 0o646)] {
            set(&file, mode);
            assert!(
                matches!(check(&file, rule), Err(Broken::Writable(path)) if path.ends_with("x.so") || path == file)
            );
        }
        set(&file, 0o664);
        assert!(check(&file, Rule::Bundled).is_ok());
        set(&file, 0o644);
        set(folder.path(), 0o1777);
        let refused = folder.path().canonicalize().expect("real");
        let error = check(&file, Rule::Strict).expect_err("shared");
        assert!(matches!(&error, Broken::Shared(path) if *path == refused));
        assert!(!error.to_string().contains("chmod"), "{error}");
        assert!(check(&file, Rule::Bundled).is_ok());
    }

    #[test]
    fn a_link_is_judged_by_where_it_lies_and_where_it_leads() {
        let folder = folder();
        let (open, link) = (folder.path().join("open"), folder.path().join("libcrossvisor_x.so"));
        fs::create_dir(&open).expect("folder");
        fs::write(open.join("x.so"), "").expect("file");
        fs::write(folder.path().join("good.so"), "").expect("file");
        set(&open, 0o777);
        symlink(open.join("x.so"), &link).expect("link");
        symlink(folder.path().join("good.so"), open.join("link.so")).expect("link");
        for path in [&link, &open.join("link.so")] {
            assert!(
                matches!(check(path, Rule::Strict), Err(Broken::Writable(path)) if path.ends_with("open"))
            );
            assert!(matches!(check(path, Rule::Bundled), Err(Broken::Writable(_))));
        }
    }

    #[test]
    fn only_regular_files_and_executable_scripts_pass() {
        let folder = folder();
        let script = folder.path().join("crossvisor-plugin-x");
        fs::write(&script, "#!/bin/sh\n").expect("file");
        assert!(matches!(check(&script, Rule::Strict), Err(Broken::NotExecutable(_))));
        set(&script, 0o755);
        assert_eq!(check(&script, Rule::Strict).expect("script").form, Form::Script);
        fs::write(&script, b"\x7fELF\x02").expect("file");
        assert!(check(&script, Rule::Strict).is_ok());
        for text in ["", "#", "echo hello\n", " #!/bin/sh\n"] {
            fs::write(&script, text).expect("file");
            let error = check(&script, Rule::Strict).expect_err(text);
            assert!(error.to_string().contains("no interpreter line"), "{text}: {error}");
        }
        let device = Path::new("/dev/null");
        assert!(matches!(check(device, Rule::Bundled), Err(Broken::NotAFile)));
        assert!(matches!(check(folder.path(), Rule::Strict), Err(Broken::NotAFile)));
        assert!(matches!(check(&folder.path().join("none"), Rule::Strict), Err(Broken::Unreadable { .. })));
    }

    #[test]
    fn root_accepts_only_what_is_roots() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = folder();
        let file = folder.path().join("x.so");
        fs::write(&file, "").expect("file");
        chown(&file, Some(65534), None).expect("owner");
        assert!(matches!(check(&file, Rule::Strict), Err(Broken::Owner { uid: 65534, .. })));
    }
}
