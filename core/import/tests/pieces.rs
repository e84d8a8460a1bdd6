//! Files read piece by piece by plugins that do as they please.

use std::io;

use crossvisor_import::{Found, Reader};
use crossvisor_loader::{Loaded, SearchPath, load_all};
use crossvisor_plugin::model::{Kind, Manifest, Name, Offer};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, ImportInput, ImportOutput, Imported, ParseInput, ParseOutput, Refused, Resume, Turn, WorkInput,
    Workload,
};

/// A line is a result, or refused where it is `bad`, or nothing where it is `-`.
struct Lines;

crossvisor_plugin::plugin!(workload_lines, workload, Lines);

const OFFERS: [&str; 6] = ["half", "whole", "wide", "wrong", "failing", "panicking"];

impl Workload for Lines {
    fn manifest(&self) -> Manifest {
        let name = |text: &str| Name::new(text).expect("name");
        let offer = |text: &&str| Offer { imports: true, ..Offer::new(name(text), "lines") };
        Manifest {
            name: name("workload-lines"),
            version: "1".into(),
            kind: Kind::Workload,
            summary: "lines".into(),
            offers: OFFERS.iter().map(offer).collect(),
        }
    }

    fn prepare(&self, _: &Chosen, _: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        Err(Failure::new("it only imports"))
    }

    fn work(&self, _: &Chosen, _: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        Err(Failure::new("it only imports"))
    }

    fn parse(&self, _: &Chosen, _: &ParseInput) -> Result<ParseOutput, Failure> {
        Err(Failure::new("it only imports"))
    }

    fn import(&self, chosen: &Chosen, input: &ImportInput) -> Result<ImportOutput, Failure> {
        let all = input.text.len();
        let used = match chosen.offer.as_str() {
            // All but the last line, of which nobody knows whether it goes on.
            "half" if !input.last => input.text.trim_end().rfind('\n').map_or(0, |at| at + 1),
            "whole" if !input.last => 0,
            "wrong" => all + 1,
            "failing" => return Err(Failure::new("this is a picture")),
            "panicking" => panic!("a bug"),
            _ => all,
        };
        let mut output = ImportOutput { used, ..ImportOutput::default() };
        for (index, text) in input.text[..used.min(all)].lines().enumerate() {
            let line = index + 1;
            match text {
                "bad" => output.refused.push(Refused { line, reason: "it is bad".into() }),
                "-" => {}
                _ if chosen.offer.as_str() == "wide" => {
                    let warnings = vec!["x".repeat(4 << 20)];
                    output.results.push(Imported { line, warnings, ..Imported::default() });
                }
                _ => {
                    output.results.push(Imported { line, machine: Some(text.into()), ..Imported::default() })
                }
            }
        }
        Ok(output)
    }
}

fn read(offer: &str, text: &str) -> Found {
    let loaded: Loaded = load_all(&SearchPath::default(), &[("workload-lines", entry)]);
    let reader = Reader::of(offer, loaded.plugins.values()).expect("offer");
    let mut found = Found::default();
    reader
        .read::<io::Error>("file", text.as_bytes(), |piece| {
            found.results.extend(piece.results);
            found.refused.extend(piece.refused);
            Ok(())
        })
        .expect("read");
    found
}

/// `count` numbered lines with a bad one as the last.
fn text(count: usize) -> String {
    (1..=count).map(|number| format!("machine {number}\n")).collect::<String>() + "bad\n"
}

fn is_all(found: &Found, count: usize) {
    assert_eq!(found.results.len(), count);
    for (index, result) in found.results.iter().enumerate() {
        let machine = format!("machine {}", index + 1);
        assert_eq!((result.line, result.machine.as_ref()), (index + 1, Some(&machine)));
    }
    assert_eq!(found.refused, [Refused { line: count + 1, reason: "it is bad".into() }]);
}

#[test]
fn a_long_file_is_read_once_and_its_lines_are_numbered() {
    for offer in ["half", "whole"] {
        is_all(&read(offer, &text(80_000)), 80_000);
        is_all(&read(offer, &text(1)), 1);
    }
}

#[test]
fn a_reply_that_is_too_long_is_asked_for_in_shorter_pieces() {
    let found = read("wide", &text(6));
    assert_eq!(
        found.results.iter().map(|result| result.line).collect::<Vec<_>>(),
        (1..=6).collect::<Vec<_>>()
    );
    assert_eq!(found.refused.len(), 1);
}

#[test]
fn what_a_plugin_cannot_do_is_a_refusal() {
    for (offer, text, said) in [
        ("half", "", "the file is empty"),
        ("half", "-\n-\n", "nothing in the file looks like a result of half"),
        ("wrong", "a\n", "workload-lines used 3 of 2 bytes"),
        ("failing", "a\n", "this is a picture"),
        ("panicking", "a\n", "a bug"),
    ] {
        let Found { results, refused } = read(offer, text);
        assert!(results.is_empty(), "{offer}");
        assert!(refused.len() == 1 && refused[0].reason.contains(said), "{offer}: {refused:?}");
    }
}

#[test]
fn only_offers_that_import_are_found() {
    let loaded: Loaded = load_all(&SearchPath::default(), &[("workload-lines", entry)]);
    assert!(Reader::of("none", loaded.plugins.values()).is_none());
}
