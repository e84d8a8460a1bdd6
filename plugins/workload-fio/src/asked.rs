//! What fio is asked to do.
//!
//! Owns its command line. It must never ask for what fio would quietly do otherwise.

use crossvisor_plugin::model::Bytes;
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{Failure, Instance};

use crate::manifest::SYNCHRONOUS;

/// Less than this share of the time, and it is not the run that was asked for.
const SHORTEST: f64 = 0.9;

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    block_bytes: u64,
    read_percent: u64,
    random_percent: u64,
    depth: u64,
    engine: String,
    size_bytes: u64,
    pub direct: bool,
    /// Whole.
    pub seconds: f64,
    jobs: u64,
}

impl Asked {
    /// # Errors
    /// [`Failure`] for options of which fio would make something else.
    pub fn of(chosen: &Chosen) -> Result<Self, Failure> {
        let whole = |name: &str, default| chosen.whole(name).unwrap_or(default);
        let asked = Self {
            block_bytes: whole("block", 4096),
            read_percent: whole("read", 50),
            random_percent: whole("random", 0),
            depth: whole("depth", 1),
            engine: chosen.word("engine").unwrap_or("psync").into(),
            size_bytes: whole("size", 256 << 20),
            direct: chosen.is_on("direct"),
            seconds: chosen.number("time").unwrap_or(30.0).ceil(),
            jobs: whole("jobs", 1),
        };
        asked.check()?;
        Ok(asked)
    }

    fn check(&self) -> Result<(), Failure> {
        let Self { depth, engine, .. } = self;
        if *depth > 1 && SYNCHRONOUS.contains(&engine.as_str()) {
            return Err(Failure::new(format!(
                "engine: {engine} has one request under way, not depth: {depth}; set engine: libaio, or depth: 1"
            )));
        }
        if *depth > 1 && engine == "libaio" && !self.direct {
            return Err(Failure::new(format!(
                "engine: libaio has one request under way without direct: true, not depth: {depth}; set direct: true, \
                 engine: io_uring, or depth: 1"
            )));
        }
        if self.block_bytes > self.size_bytes {
            return Err(Failure::new(format!(
                "a request of block: {} is larger than its data set of size: {}; make size larger",
                Bytes(self.block_bytes),
                Bytes(self.size_bytes)
            )));
        }
        Ok(())
    }

    pub fn argv(&self, instance: &Instance) -> Vec<String> {
        let mut argv = vec!["fio".to_string(), "--output-format=json".into(), "--eta=never".into()];
        let mut option = |name: &str, value: &dyn std::fmt::Display| argv.push(format!("--{name}={value}"));
        option("name", &"crossvisor");
        option("directory", &instance.folder.display().to_string().replace(':', "\\:"));
        option("rw", &self.rw());
        if matches!(self.read_percent, 1..100) {
            option("rwmixread", &self.read_percent);
        }
        if matches!(self.random_percent, 1..100) {
            option("percentage_random", &self.random_percent);
        }
        option("bs", &self.block_bytes);
        option("iodepth", &self.depth);
        option("ioengine", &self.engine);
        option("size", &self.size_bytes);
        option("direct", &u8::from(self.direct));
        option("numjobs", &self.jobs);
        option("runtime", &self.seconds);
        argv.extend(["--time_based=1", "--overwrite=1", "--group_reporting=1"].map(String::from));
        argv
    }

    fn rw(&self) -> &'static str {
        match (self.random_percent, self.read_percent) {
            (0, 0) => "write",
            (0, 100..) => "read",
            (0, _) => "rw",
            (_, 0) => "randwrite",
            (_, 100..) => "randread",
            (_, _) => "randrw",
        }
    }

    /// Whether requests of this direction are asked for.
    pub fn does(&self, direction: &str) -> bool {
        match direction {
            "read" => self.read_percent > 0,
            "write" => self.read_percent < 100,
            _ => false,
        }
    }

    pub fn shortest_s(&self) -> f64 {
        SHORTEST * self.seconds
    }

    /// Of all jobs together.
    pub fn data_bytes(&self) -> u128 {
        u128::from(self.size_bytes) * u128::from(self.jobs)
    }
}
