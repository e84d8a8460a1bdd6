//! How often verdicts are wrong and how often a difference is found, over many made-up runs; fails where that is more
//! than one false call in twenty runs, or less than 19 of 20 slowdowns.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/noise.rs"]
mod noise;
#[path = "../tests/common/trial.rs"]
mod trial;

use noise::Noise;
use trial::{Shape, Trial, adaptive, called, fixed, found};

const RUNS: usize = 2000;
/// A share of 5 % of the runs may come out this far above it by chance, in one case of two hundred.
const FALSE: f64 = 0.05 + 2.58 * 0.004_873;

fn main() {
    let mut worst: f64 = 0.0;
    println!("Runs with a false verdict, nothing being different, of {RUNS} each:");
    println!(
        "{:16} {:>12} {:>8} {:>8} {:>8} {:>8}",
        "noise", "comparisons", "n = 3", "n = 5", "n = 10", "n = 30"
    );
    for (name, shape) in Shape::ALL {
        for cells in [1, 8] {
            let rate =
                |repeat| called(&Trial::new(cells, shape, 1.0, fixed(repeat)), RUNS, &mut Noise::new(1));
            let rates = [3, 5, 10, 30].map(rate);
            worst = rates.into_iter().fold(worst, f64::max);
            let shown = rates.map(|rate| format!("{:>6.2} %", 100.0 * rate)).join(" ");
            println!("{name:16} {cells:>12} {shown}");
        }
    }
    println!("\nThe same with repeat: {{min, max: 60, until: 2%}}:");
    println!("{:16} {:>12} {:>8} {:>8} {:>8}", "noise", "comparisons", "min 3", "min 5", "min 10");
    for (name, shape) in noises() {
        for cells in [1, 8] {
            let rate = |min| {
                called(&Trial::new(cells, shape, 1.0, adaptive(min, 60, "2%")), RUNS, &mut Noise::new(2))
            };
            let rates = [3, 5, 10].map(rate);
            worst = rates.into_iter().fold(worst, f64::max);
            let shown = rates.map(|rate| format!("{:>6.2} %", 100.0 * rate)).join(" ");
            println!("{name:16} {cells:>12} {shown}");
        }
    }
    println!(
        "\nRuns in which a slowdown of 5 % of one cell is found, with repeat: {{min: 3, max: 100, until: 2%}}:"
    );
    println!("{:16} {:>12} {:>8} {:>16}", "noise", "comparisons", "found", "replicates, mean");
    let mut least: f64 = 1.0;
    for (name, shape) in noises() {
        for cells in [1, 8] {
            let trial = Trial::new(cells, shape, 0.95, adaptive(3, 100, "2%"));
            let (share, replicates) = found(&trial, RUNS / 5, &mut Noise::new(3));
            least = least.min(share);
            println!("{name:16} {cells:>12} {:>6.2} % {replicates:>16.1}", 100.0 * share);
        }
    }
    println!("\nworst {:.2} % false, least {:.2} % found", 100.0 * worst, 100.0 * least);
    assert!(worst <= FALSE, "too many false verdicts");
    assert!(least >= 0.95, "too few slowdowns found");
}

/// The noise of real machines: from quiet to that of disks with neighbours.
fn noises() -> [(&'static str, Shape); 6] {
    [
        ("normal 1 %", Shape::Normal(0.01)),
        ("normal 2 %", Shape::Normal(0.02)),
        ("normal 3 %", Shape::Normal(0.03)),
        ("normal 5 %", Shape::Normal(0.05)),
        ("lognormal 0.03", Shape::Lognormal(0.03)),
        ("uneven blocks", Shape::Blocks(0.03)),
    ]
}
