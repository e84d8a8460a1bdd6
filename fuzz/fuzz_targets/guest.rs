//! Definitions of guests: `guest.yaml`.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use crossvisor_fuzz::Folder;
use crossvisor_image::GuestLibrary;
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| {
    let folder = Folder::default();
    fs::create_dir(folder.path().join("any")).expect("a folder");
    folder
});
static LIBRARY: LazyLock<GuestLibrary> =
    LazyLock::new(|| GuestLibrary { folders: vec![FOLDER.path().to_path_buf()] });

fuzz_target!(|data: &[u8]| {
    FOLDER.write("any/guest.yaml", data);
    match LIBRARY.get("any") {
        Ok(guest) => {
            assert_eq!(guest.name.as_str(), "any");
            assert_eq!(guest.offer().min_memory, guest.min_memory);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
