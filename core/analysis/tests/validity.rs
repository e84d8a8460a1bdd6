//! A short look at what `benches/validity.rs` looks at for long: verdicts are seldom false and slowdowns are found.

mod common;
#[path = "common/noise.rs"]
mod noise;
#[path = "common/trial.rs"]
mod trial;

use noise::Noise;
use trial::{Shape, Trial, adaptive, called, fixed, found};

#[test]
fn where_nothing_differs_nothing_is_called() {
    for (name, shape) in Shape::ALL {
        let rate = called(&Trial::new(4, shape, 1.0, fixed(6)), 120, &mut Noise::new(7));
        assert!(rate <= 0.08, "{name}: {rate}");
    }
}

#[test]
fn a_slowdown_is_found_with_the_repeats_that_are_asked_for() {
    for (name, shape) in [("quiet", Shape::Normal(0.01)), ("noisy", Shape::Normal(0.03))] {
        let (share, replicates) =
            found(&Trial::new(2, shape, 0.95, adaptive(3, 60, "2%")), 25, &mut Noise::new(8));
        assert!(share >= 0.95, "{name}: {share} with {replicates} replicates");
        assert!(replicates < 30.0, "{name}: {replicates} replicates");
    }
}

#[test]
fn repeats_do_not_make_differences() {
    let trial = Trial::new(2, Shape::Normal(0.02), 1.0, adaptive(3, 30, "2%"));
    let rate = called(&trial, 80, &mut Noise::new(9));
    assert!(rate <= 0.08, "{rate}");
}
