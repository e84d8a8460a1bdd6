//! `crossvisor-corpus`: every claim of every row, and what is wrong.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use crossvisor_corpus::{Claim, Row, Verdict, kinds, rows};

/// Holds every reader against a folder of real files whose right values are known.
#[derive(Debug, Parser)]
struct Arguments {
    /// The folder with INDEX.tsv
    #[arg(env = "CROSSVISOR_CORPUS")]
    folder: PathBuf,
    /// Only rows of this kind
    #[arg(long)]
    kind: Option<String>,
    /// Only the row of this path, with every claim and not only what is wrong
    #[arg(long)]
    row: Option<String>,
}

/// Numbers of verdicts.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    rows: usize,
    right: usize,
    wrong: usize,
    cannot: usize,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.right += other.right;
        self.wrong += other.wrong;
        self.cannot += other.cannot;
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let rows = match rows(&arguments.folder) {
        Ok(rows) => rows,
        Err(error) => {
            eprintln!("cannot read {}: {error}", arguments.folder.join("INDEX.tsv").display());
            return ExitCode::from(2);
        }
    };
    let asked = |row: &&Row| {
        arguments.kind.as_ref().is_none_or(|kind| *kind == row.kind)
            && arguments.row.as_ref().is_none_or(|path| *path == row.path)
    };
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for row in rows.iter().filter(asked) {
        tallies.entry(&row.kind).or_default().add(look(row, &arguments));
    }
    table(&tallies)
}

/// Judges one row and prints what is worth saying.
fn look(row: &Row, arguments: &Arguments) -> Tally {
    let content = match std::fs::read(arguments.folder.join(&row.path)) {
        Ok(content) => content,
        Err(error) => return unchecked(row, &format!("cannot be read: {error}")),
    };
    let Some(judge) = kinds::judge_of(&row.kind) else {
        return unchecked(row, "no check for this kind");
    };
    let verdicts = judge(row, &content);
    if verdicts.is_empty() {
        return unchecked(row, "nothing is expected of it");
    }
    let mut tally = Tally { rows: 1, ..Tally::default() };
    for (claim, verdict) in &verdicts {
        match verdict {
            Verdict::Right => tally.right += 1,
            Verdict::Wrong(_) => tally.wrong += 1,
            Verdict::Cannot(_) => tally.cannot += 1,
        }
        if *verdict != Verdict::Right || arguments.row.is_some() {
            println!("{}: {}", row.path, said(claim, verdict));
        }
    }
    tally
}

fn said(claim: &Claim, verdict: &Verdict) -> String {
    let note = if claim.note.is_empty() { String::new() } else { format!(" ({})", claim.note) };
    let claim = format!("{}={}{note}", claim.name(), claim.value);
    match verdict {
        Verdict::Right => format!("right: {claim}"),
        Verdict::Wrong(found) => format!("WRONG: {claim}: found {found}"),
        Verdict::Cannot(reason) => format!("cannot: {claim}: {reason}"),
    }
}

fn unchecked(row: &Row, reason: &str) -> Tally {
    println!("{}: WRONG: {reason}", row.path);
    Tally { rows: 1, wrong: 1, ..Tally::default() }
}

fn table(tallies: &BTreeMap<&str, Tally>) -> ExitCode {
    let mut all = Tally::default();
    println!("{:<10}{:>6}{:>8}{:>8}{:>8}", "kind", "rows", "right", "wrong", "cannot");
    let line = |kind: &str, tally: Tally| {
        println!("{kind:<10}{:>6}{:>8}{:>8}{:>8}", tally.rows, tally.right, tally.wrong, tally.cannot);
    };
    for (kind, tally) in tallies {
        line(kind, *tally);
        all.add(*tally);
    }
    line("all", all);
    if all.wrong == 0 && all.rows > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
