//! Surroundings, broken lines, and what is one result or two.

use super::*;
use crate::lines::lines;

const LINE: &str = "alpha,2G,30111,91,41222,17,20333,9,33444,88,50555,12,181.6,1,16,901,97,+++++,+++,13021,88,955,98,+++++,+++,2510,91";
const TABLE: &str = "\
Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
alpha            2G 30111  91 41222  17 20333   9 33444  88 50555  12 181.6   1
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16   901  97 +++++ +++ 13021  88   955  98 +++++ +++  2510  91
";

fn results(text: &str) -> Vec<Record> {
    let found = find(&lines(text)).into_iter();
    let results = found.filter_map(|find| match find.what {
        What::Result { record, .. } => Some(*record),
        What::Refused(_) => None,
    });
    results.collect()
}

fn refusals(text: &str) -> Vec<String> {
    let found = find(&lines(text)).into_iter();
    let refusals = found.filter_map(|find| match find.what {
        What::Result { .. } => None,
        What::Refused(reason) => Some(reason),
    });
    refusals.collect()
}

fn line() -> Record {
    csv::read(LINE).and_then(Result::ok).expect("good")
}

#[test]
fn a_result_is_found_in_any_surrounding() {
    let (head, tail) = LINE.split_at(71);
    let soft = format!("Content-Transfer-Encoding: quoted-printable\n\n> {head}=\n{tail}");
    let surroundings = [
        format!("Last login: Mon\r\n*** welcome, all, to, the, host ***\r\n{LINE}\r\nConnection closed.\r\n"),
        format!("> {LINE} "),
        format!("    # {LINE}\n"),
        format!("```\n{LINE}\n```"),
        format!("{LINE}\necho \"{LINE}\" | bon_csv2html > out.html"),
        format!("<pre>{LINE}</pre>"),
        format!("{{\"stdout\": \"{LINE}\\n\", \"rc\": 0}}"),
        format!("> {head}=\n> {tail}"),
        format!("{head}\n{tail}"),
        soft,
    ];
    for text in surroundings {
        assert_eq!(results(&text), [line()], "{text}");
    }
}

#[test]
fn a_line_broken_thrice_is_joined_and_a_cut_one_is_not_completed() {
    let late = "1.98,2.00a,epsilon,2,1300000003,128M,,8192,5,1271,90,+++++,+++,60222,102,2172,93,+++++,+++,3015,44,16,,,,,1271,90,+++++,+++,60222,102,2172,93,+++++,+++,3015,44,10313us,4724us,316us,7714us,267us,13221us,1us,2us,3us,4us,5us,6us";
    let broken: Vec<&str> = [&late[..72], &late[72..144], &late[144..216], &late[216..]].into();
    assert_eq!(results(&broken.join("\n")).len(), 1);
    let cut = format!("{}\n{LINE}", &LINE[..90]);
    assert_eq!(results(&cut), [line()]);
    assert_eq!(refusals(&cut), ["expected 27 fields as bonnie++ 1.0x prints them, found 22"]);
}

#[test]
fn two_results_stay_two() {
    let other = LINE.replace("41222", "41223");
    assert_eq!(results(&format!("{LINE}\nname,size,putc,cpu,write,cpu\n{other}")).len(), 2);
    assert!(results("Version 1.03e\nno, result, here, at, all").is_empty());
    let twice = find(&lines(&format!("{LINE}\n{LINE}\n"))).into_iter().map(|find| match find.what {
        What::Result { warnings, .. } => warnings.len(),
        What::Refused(_) => usize::MAX,
    });
    assert_eq!(twice.collect::<Vec<_>>(), [0, 1], "the second is suspicious");
}

#[test]
fn a_table_and_its_line_are_one_result_in_either_order() {
    for text in [format!("{TABLE}{LINE}\n"), format!("{LINE}\n{TABLE}")] {
        let [record] = &results(&text)[..] else { panic!("{text}") };
        assert_eq!((record.version.as_deref(), &record.stages), (Some("1.03e"), &line().stages));
    }
    let other = TABLE.replace("41222", "41224");
    assert_eq!(results(&format!("{other}{LINE}\n")).len(), 2, "of another run");
    assert_eq!(results(&format!("{TABLE}{other}")).len(), 2);
}

#[test]
fn a_nameless_line_takes_the_name_of_its_table() {
    let nameless = format!("{TABLE}{}", LINE.replace("alpha", ""));
    assert_eq!(results(&nameless)[0].machine.as_deref(), Some("alpha"));
}
