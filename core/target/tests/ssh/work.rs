//! Programs and files over SSH: many at once, long ones, and lost connections.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use crate::server::{Server, run, soon};
use crossvisor_target::{Cancel, Machine, Ssh, TargetError, machine, port, transfer};

#[test]
fn sixty_four_programs_at_once_all_answer() {
    let server = Server::start("");
    let machine = Ssh::new(server.address());
    std::thread::scope(|scope| {
        let run = |number: u32| run(&machine, &["sh", "-c", &format!("sleep 0.2; echo {number}")]);
        let going: Vec<_> = (0..64).map(|number| scope.spawn(move || run(number))).collect();
        for (number, program) in going.into_iter().enumerate() {
            assert_eq!(program.join().expect("thread").expect("ran"), number.to_string());
        }
    });
}

#[test]
fn a_program_runs_on_while_others_come_and_go() {
    let server = Server::start("");
    let machine = Ssh::new(server.address());
    let argv = ["sh", "-c", "while read line; do echo got $line; done"].map(String::from);
    let mut long = machine.start(&argv, soon()).expect("started");
    for number in 0..20 {
        assert_eq!(run(&machine, &["echo", "short"]).expect("ran"), "short");
        long.write(format!("{number}\n").as_bytes(), soon()).expect("written");
        assert_eq!(long.line(soon(), &Cancel::default()).expect("line"), format!("got {number}"));
    }
    long.close_stdin().expect("closed");
    assert_eq!(long.wait(soon(), &Cancel::default()).expect("ended").exit, Some(0));
}

#[test]
fn a_lost_connection_is_an_error_at_once_and_the_next_program_gets_a_new_one() {
    let server = Server::start("");
    let machine = Ssh::new(server.address());
    let argv = ["sh", "-c", "echo $PPID; cat"].map(String::from);
    let mut lost = machine.start(&argv, soon()).expect("started");
    let session = lost.line(soon(), &Cancel::default()).expect("process");
    // What serves the connection; with it goes the program's input.
    run(&machine, &["kill", "-9", &session]).expect("killed");
    let began = Instant::now();
    let error = lost.wait(soon(), &Cancel::default()).expect_err("lost");
    assert!(matches!(error, TargetError::Ssh { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(5));
    // The one that is idle now is cut as well.
    let idle = run(&machine, &["sh", "-c", "echo $PPID"]).expect("process");
    std::process::Command::new("kill").args(["-9", &idle]).status().expect("kill");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(run(&machine, &["echo", "again"]).expect("ran"), "again");
}

#[test]
fn a_server_that_is_gone_is_told_of_at_once() {
    let server = Server::start("");
    let machine = Ssh::new(server.address());
    drop(server);
    let began = Instant::now();
    assert!(matches!(run(&machine, &["true"]), Err(TargetError::Ssh { .. })));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn much_input_and_output_at_once_do_not_get_stuck() {
    let server = Server::start("");
    let machine = Ssh::new(server.address());
    let mut process = machine.start(&["cat".to_string()], soon()).expect("started");
    let much = vec![b'x'; 8 << 20];
    process.write(&much, soon()).expect("written");
    process.close_stdin().expect("closed");
    let ended = process.wait(soon(), &Cancel::default()).expect("ended");
    assert!(ended.exit == Some(0) && ended.stdout == much, "{} bytes", ended.stdout.len());
}

#[test]
fn a_program_that_does_not_want_its_input_tells_why() {
    let server = Server::start("");
    let machine = Ssh::new(server.address());
    let argv = ["sh", "-c", "echo no >&2; exit 4"].map(String::from);
    let mut process = machine.start(&argv, soon()).expect("started");
    process.write(&vec![0; 8 << 20], soon()).expect("written");
    process.close_stdin().expect("closed");
    let ended = process.wait(soon(), &Cancel::default()).expect("ended");
    assert!(ended.exit == Some(4) && ended.stderr.ends_with(b"no\n"), "{ended:?}");
}

#[test]
fn files_are_copied_with_their_holes_and_read_back() {
    let server = Server::start("");
    let machine = Ssh::new(server.address());
    let folder = tempfile::tempdir().expect("folder");
    let image = fs::File::create(folder.path().join("image")).expect("image");
    image.set_len(1 << 30).expect("length");
    fs::write(folder.path().join("facts.json"), r#"{"root_bytes": 5}"#).expect("facts");
    let to = server.file("to");
    transfer::files(folder.path(), &["image", "facts.json"], &machine, &to, soon(), &Cancel::default())
        .expect("copied");
    let copied = fs::metadata(to.join("image")).expect("image");
    assert!(copied.len() == 1 << 30 && copied.blocks() < 2048, "{copied:?}");
    let facts: serde_json::Value =
        machine::read_json(&machine, &to.join("facts.json"), soon()).expect("facts");
    assert_eq!(facts["root_bytes"], 5);
    assert_eq!(machine.read_end(&to.join("facts.json"), 3, soon()).expect("end"), b" 5}");
    let missing = machine.read(&to.join("missing"), soon()).expect_err("missing").to_string();
    assert!(missing.contains("missing: No such file"), "{missing}");
    assert_eq!(port::free_on(&machine, 3).expect("ports").len(), 3);
}

#[test]
fn a_copy_that_the_machine_refuses_tells_why() {
    let server = Server::start("");
    let machine = Ssh::new(server.address());
    let folder = tempfile::tempdir().expect("folder");
    fs::write(folder.path().join("file"), "x").expect("file");
    let to = server.write("a file", "");
    let error = transfer::files(folder.path(), &["file"], &machine, &to, soon(), &Cancel::default());
    let error = error.expect_err("no folder").to_string();
    assert!(error.contains("a file"), "{error}");
}
