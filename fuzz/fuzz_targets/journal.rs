//! The journal of what a run creates. What is announced after a crash is undone first, and nothing before it is lost.
#![no_main]

use std::sync::LazyLock;

use crossvisor_fuzz::Folder;
use crossvisor_model::Action;
use crossvisor_store::{Journal, journal};
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(Folder::default);

fuzz_target!(|data: &[u8]| {
    let path = FOLDER.write("journal.jsonl", data);
    let Ok(before) = journal::pending(&path) else {
        return assert!(Journal::open(&path).is_err());
    };
    let opened = Journal::open(&path).expect("a journal that reads opens");
    let host = "here".parse().expect("a name");
    let undo = Action::DomainState { name: "cv-guest".into() };
    let announced = opened.begin(&host, &undo).expect("announced");
    let pending = journal::pending(&path).expect("read");
    assert_eq!((&pending[0], &pending[1..]), (&announced, &before[..]));
    opened.undone(&announced).expect("noted");
    assert_eq!(journal::pending(&path).expect("read"), before);
});
