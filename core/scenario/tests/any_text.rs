//! No text makes the reader panic, and every problem lies inside its text.

mod common;

use proptest::prelude::*;

fn holds(text: &str) {
    if let Err(problems) = common::planned(text, "any.yaml") {
        assert!(!problems.is_empty());
        for problem in problems {
            assert!(text.is_char_boundary(problem.offset), "{problem}");
            assert!(text.is_char_boundary(problem.offset + problem.length), "{problem}");
            assert!(problem.to_string().starts_with("any.yaml:"));
        }
    }
}

/// Pieces of the language, so that many texts get past the syntax.
fn pieces() -> impl Strategy<Value = String> {
    let words = "name guest matrix hypervisor guests workload exclude include compare baseline storages use hosts uri up bridge \
                 ssh_config xen-host kvm-host qemu:///embed xen+ssh://a/system lab xen-pv file \
                 bare pi kvm-virtio 384MiB image memory debian-12 1 -1 1e3 ~ \"x\" ' , [ ] { } << ä # \u{feff} \
                 \u{85} \u{2028} \r \0 \t";
    let signs = [
        ": ",
        ":\n  ",
        "\n",
        "\n    ",
        "\r\n",
        "- ",
        "? ",
        "&a ",
        "*a",
        "!!str ",
        "|\n",
        ">\n",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
    ];
    let pieces: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).chain(signs).collect();
    proptest::collection::vec(proptest::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
        holds(&text);
    }

    #[test]
    fn any_mix_of_the_language_is_read_or_refused(text in pieces()) {
        holds(&text);
    }

    #[test]
    fn a_damaged_scenario_is_read_or_refused(at in 0_usize..600, length in 0_usize..20, put in "(?s).{0,3}") {
        let good = include_str!("../../../scenarios/quickstart.yaml");
        let (at, end) = (at.min(good.len()), (at + length).min(good.len()));
        holds(&format!("{}{put}{}", &good[..at], &good[end..]));
    }
}
