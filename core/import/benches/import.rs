//! What importing 100,000 lines of bonnie++ costs: by the program, into a run directory, turn about with a tenth of
//! them and with `wc`, which reads the same file.
//!
//! Owns the numbers of `script/bench import`.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LINES: usize = 100_000;
const MACHINES: usize = 50;
const ROUNDS: usize = 7;

fn main() {
    let program =
        std::env::args().skip(1).find(|path| Path::new(path).is_file()).expect("the program's path");
    let folder = tempfile::tempdir().expect("folder");
    let [few, all] = [LINES / 10, LINES].map(|count| {
        let file = folder.path().join(format!("{count}.csv"));
        fs::write(&file, lines(count)).expect("file");
        file
    });
    let run = folder.path().join("run");
    let import = |file: &Path| {
        let [file, folder] = [file, folder.path()].map(|path| path.to_str().expect("UTF-8"));
        let took = time(&program, &["import", "bonnie", file, "--out", folder, "--name", "run"]);
        fs::remove_dir_all(&run).expect("removed");
        took
    };
    let rounds =
        (0..ROUNDS).map(|_| [import(&few), import(&all), time("wc", &["-l", all.to_str().expect("UTF-8")])]);
    let rounds: Vec<_> = rounds.collect();
    let [few, all, wc] = [0, 1, 2].map(|of| median(rounds.iter().map(|round| round[of])));
    println!("{LINES} lines in {all:.3} s (at most 1 s)");
    println!("{:.1} times as long as a tenth of them (at most 11), which took {few:.3} s", all / few);
    println!("{:.0} times as long as wc, which took {wc:.4} s", all / wc);
}

/// Lines of bonnie++ 2.00, of several machines, no two with the same figures.
fn lines(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let (machine, speed) = (number % MACHINES, 100_000 + number);
        writeln!(
            text,
            "1.98,2.00,node-{machine},1,{},2G,,8192,5,{},92,{speed},17,{},9,{},88,{},12,181.6,1,16,,,,,901,97,+++++,+++,\
             13021,88,955,98,+++++,+++,2510,91,10313us,4724us,316us,7714us,267us,13221us,1us,2us,3us,4us,5us,6us",
            1_300_000_000 + number,
            speed / 80,
            speed / 2,
            speed / 60,
            speed + 11
        )
        .expect("text");
    }
    text
}

fn time(program: &str, arguments: &[&str]) -> Duration {
    let start = Instant::now();
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).status().expect(program);
    assert!(status.success(), "{program} {arguments:?}");
    start.elapsed()
}

/// In seconds.
fn median(times: impl Iterator<Item = Duration>) -> f64 {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times[times.len() / 2].as_secs_f64()
}
