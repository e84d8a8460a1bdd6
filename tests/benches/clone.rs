//! Time to copy a guest's image: the program that the backing `file` asks for against
//! `cp --sparse=always --reflink=auto`, turn about in one session.
//!
//! `script/bench clone [PAIRS]`

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crossvisor_image::{GuestLibrary, build};
use crossvisor_tests::Lab;

fn main() {
    let pairs = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(9_usize);
    let lab = Lab::new();
    fs::create_dir_all(lab.state()).expect("folder");
    let guest = GuestLibrary::from_environment().get("debian-12").expect("guest");
    let cache = crossvisor_engine::Settings::from_environment().images();
    let image = build(&guest, &cache, &mut |_| (), &|| false).expect("image");
    let copy = lab.state().join("copy");
    let mut ratios: Vec<f64> = (0..pairs)
        .map(|_| {
            let plain = time(&["--sparse=always", "--reflink=auto"], &image.root, &copy);
            let own = time(&["--reflink=auto", "--sparse=auto"], &image.root, &copy);
            println!("plain {plain:.3?}, crossvisor {own:.3?}");
            own.as_secs_f64() / plain.as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3} of {pairs} pairs", ratios[pairs / 2]);
}

fn time(options: &[&str], from: &Path, to: &Path) -> Duration {
    let start = Instant::now();
    assert!(Command::new("cp").args(options).arg(from).arg(to).status().expect("cp").success());
    let took = start.elapsed();
    fs::remove_file(to).expect("remove");
    took
}
