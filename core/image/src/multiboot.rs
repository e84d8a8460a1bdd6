//! What is started before a guest's kernel, as QEMU's multiboot loader takes it.
//!
//! Owns the unpacking and the look at its header. It must never judge more of it than that loader does.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::Path;

use flate2::read::GzDecoder;

use crate::ImageError;

const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The start of an ELF file of class 32, whatever its machine.
const ELF32: [u8; 5] = [0x7f, b'E', b'L', b'F', 1];

/// Writes the program `from`, decompressed, to `to`.
///
/// # Errors
/// [`ImageError::NoMultiboot`] when it is not what QEMU starts; [`ImageError::Io`] when it cannot be read or written.
pub(crate) fn unpack(from: &Path, to: &Path) -> Result<(), ImageError> {
    let read = || ImageError::io("read the multiboot program", from);
    // A link would lead out of the new system, into this one.
    if fs::symlink_metadata(from).map_err(read())?.is_symlink() {
        return Err(ImageError::NoMultiboot(from.into()));
    }
    let mut file = File::open(from).map_err(read())?;
    let mut start = [0; 2];
    let compressed = file.read_exact(&mut start).is_ok() && start == GZIP;
    file.rewind().map_err(read())?;
    let mut program = Vec::new();
    let length = if compressed {
        GzDecoder::new(file).read_to_end(&mut program)
    } else {
        file.read_to_end(&mut program)
    };
    length.map_err(read())?;
    if !program.starts_with(&ELF32) {
        return Err(ImageError::NoMultiboot(from.into()));
    }
    fs::write(to, program).map_err(ImageError::io("write", to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).expect("encode");
        encoder.finish().expect("encode")
    }

    #[test]
    fn an_elf_of_32_bits_is_taken_compressed_or_not_and_nothing_else_is() {
        let folder = tempfile::tempdir().expect("folder");
        let (from, to) = (folder.path().join("xen.gz"), folder.path().join("xen"));
        let elf = |class| [b"\x7fELF".as_slice(), &[class], &[0; 99]].concat();
        for content in [elf(1), gzip(&elf(1))] {
            fs::write(&from, content).expect("write");
            unpack(&from, &to).expect("good");
            assert_eq!(fs::read(&to).expect("read"), elf(1));
        }
        for content in [elf(2), gzip(&elf(2)), b"MZ".to_vec(), Vec::new()] {
            fs::write(&from, content).expect("write");
            assert!(matches!(unpack(&from, &to), Err(ImageError::NoMultiboot(_))));
        }
        let whole = gzip(&elf(1));
        fs::write(&from, &whole[..whole.len() - 4]).expect("write");
        assert!(matches!(unpack(&from, &to), Err(ImageError::Io { .. })));
        fs::remove_file(&from).expect("remove");
        std::os::unix::fs::symlink("/bin/true", &from).expect("link");
        assert!(matches!(unpack(&from, &to), Err(ImageError::NoMultiboot(_))));
    }
}
