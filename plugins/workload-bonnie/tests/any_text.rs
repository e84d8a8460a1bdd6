//! No text makes the reader fail, and no figure comes out that the text does not have.

use crossvisor_plugin::model::Name;
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{ImportInput, ImportOutput, Workload};
use crossvisor_workload_bonnie::Bonnie;
use proptest::prelude::*;

const V1: &str = "alpha,2G,30111,91,41222,17,20333,9,33444,88,50555,12,181.6,1,16,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91";
const V50: &str = "1.98,2.00a,zeta,2,1300000003,128M,,8192,5,1271,90,+++++,+++,60222,102,2172,93,+++++,+++,3015,44,16,,,,,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91,10313us,4724us,316us,7714us,267us,13221us,1us,2us,3us,4us,5us,6us";
const TABLE: &str = "\
Version  2.00       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
eta           8000M  402k  99  1.4g  96  117m  14 1510k  99 15.8m  95 279.1  13
Latency             35068us   24976us    2944ms   30725us   71770us   26152us
";
const PAGE: &str = "bonnie++ 1.03\n| Host | Block write KB/s | CPU | Rewrite MiB/s |\n|--|--|--|--|\n| a | 411 | 12 | 99.5 |\n";
const ZCAV: &str = "#loops: 1, version: 1.03\n#block K/s time\n0 59758 1.713567\n#100 ++++ 0.4\n";

fn import(offer: &str, text: &str) -> ImportOutput {
    let chosen = Chosen { offer: Name::new(offer).expect("valid"), options: Default::default() };
    let input = |last| ImportInput { file: "log".into(), text: text.into(), last };
    let piece = Bonnie.import(&chosen, &input(false)).expect("an import never fails");
    assert!(piece.used <= text.len() && text.is_char_boundary(piece.used));
    Bonnie.import(&chosen, &input(true)).expect("an import never fails")
}

/// Every figure of a result is a number of the text in one of the units that are printed.
fn all_are_printed(offer: &str, text: &str) -> Result<(), TestCaseError> {
    const UNITS: [f64; 5] = [1.0, 1e-3, 1e3, 1024.0, 1024.0 * 1024.0];
    // quoted-printable breaks a number in two
    let joined = text.replace("=\n", "").replace("\n", "");
    let printed: Vec<f64> = [text, &joined]
        .iter()
        .flat_map(|text| text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')))
        .flat_map(|word| [word.to_string(), word.replace(',', ".")])
        .flat_map(|word| word.split(',').map(|part| part.trim_matches('.').to_string()).collect::<Vec<_>>())
        .filter_map(|word| word.parse().ok())
        .collect();
    let counted = ["parts", "too_fast_parts", "mean"];
    for result in import(offer, text).results {
        for (metric, value) in
            result.values.measured.iter().filter(|(metric, _)| !counted.contains(&&***metric))
        {
            let near =
                |unit: &f64| printed.iter().any(|number| (number * unit - value).abs() <= 1e-9 * value.abs());
            prop_assert!(UNITS.iter().any(near), "{metric} = {value} is not in the text: {text}");
            prop_assert!(value.is_finite());
        }
    }
    Ok(())
}

/// A text of good pieces with something done to them.
fn damaged() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(V1.to_string()),
        Just(V50.to_string()),
        Just(TABLE.to_string()),
        Just(PAGE.to_string()),
        Just(ZCAV.to_string()),
        "[ -~\n]{0,60}",
    ];
    let change = (
        0_usize..400,
        prop_oneof![
            Just(""),
            Just("\n"),
            Just("=\n"),
            Just(","),
            Just(";"),
            Just("+"),
            Just("."),
            Just("|"),
            Just("\u{e9}"),
            Just("9")
        ],
    );
    (prop::collection::vec(piece, 1..5), prop::collection::vec((change, any::<bool>()), 0..6)).prop_map(
        |(pieces, changes)| {
            let mut text = pieces.join("\n");
            for ((at, with), drop) in changes {
                let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                let end = if drop { text[at..].chars().next().map_or(at, |c| at + c.len_utf8()) } else { at };
                text.replace_range(at..end, with);
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        import("bonnie", &text);
        import("zcav", &text);
    }

    #[test]
    fn any_lines_of_marks_are_read(text in "[|,;+0-9.GMkmsu:=>\"'\n -]{0,400}") {
        import("bonnie", &text);
        import("zcav", &text);
    }

    #[test]
    fn damage_makes_no_figure(text in damaged()) {
        all_are_printed("bonnie", &text)?;
        all_are_printed("zcav", &text)?;
    }
}
