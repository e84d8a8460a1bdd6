//! What is known of a built image (`image.json`): it is used only where its files are as it says.
#![no_main]

use std::fs;
use std::sync::LazyLock;

use crossvisor_fuzz::{Folder, read_back};
use crossvisor_image::{GuestDefinition, GuestLibrary, cached};
use libfuzzer_sys::fuzz_target;

static GUEST: LazyLock<GuestDefinition> =
    LazyLock::new(|| GuestLibrary::default().get("debian-12").expect("a guest"));
static FOLDER: LazyLock<Folder> = LazyLock::new(|| {
    let folder = Folder::default();
    fs::create_dir(folder.path().join(name())).expect("a folder");
    for (file, content) in [("root.img", "root"), ("vmlinuz", "kernel"), ("initrd.img", "initrd")] {
        folder.write(&format!("{}/{file}", name()), content.as_bytes());
    }
    folder
});

fn name() -> String {
    format!("{}-{}", GUEST.name, &GUEST.hash[..16])
}

fuzz_target!(|data: &[u8]| {
    // The hash is not for guessing.
    let facts = String::from_utf8_lossy(data).replace("HASH", &GUEST.hash);
    FOLDER.write(&format!("{}/image.json", name()), facts.as_bytes());
    if let Some(image) = cached(&GUEST, FOLDER.path()) {
        read_back(&image.facts);
        let facts = &image.facts;
        assert_eq!((&facts.definition, facts.multiboot_bytes), (&GUEST.hash, None));
        assert_eq!((facts.root_bytes, facts.kernel_bytes, facts.initrd_bytes), (4, 6, 6));
    }
});
