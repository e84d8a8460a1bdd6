//! Workload `iperf`: TCP throughput between the host and every instance at once, one direction after the other.
//!
//! Owns the command lines of iperf3 and the meaning of what it prints. It must never run it.

mod direction;
mod manifest;
mod report;

use crossvisor_plugin::model::action::Server;
use crossvisor_plugin::model::{Action, Exec, Manifest, Place, Step, Value};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, Instance, ParseInput, ParseOutput, ParsedSample, Resume, Turn, WorkInput, Workload, finish,
};

use direction::Direction;
pub use report::{Asked, Report, ReportError};

/// The plugin.
pub struct Iperf;

crossvisor_plugin::plugin!(workload_iperf, workload, Iperf);

/// Beyond the asked time, for connecting and for a guest that is slow.
const MARGIN_S: f64 = 120.0;
/// Relative to the asked time; more is flagged.
const TOO_LONG: f64 = 1.1;

impl Workload for Iperf {
    fn manifest(&self) -> Manifest {
        manifest::manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn prepare(&self, _: &Chosen, _: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        finish(Vec::new(), ())
    }

    fn work(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        finish(Direction::ALL.map(|direction| measure(chosen, input, direction)).into(), ())
    }

    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        let direction = Direction::of_round(&input.round).ok_or_else(|| {
            Failure::new(format!("'{}' is not a round of iperf; use out or in", input.round))
        })?;
        let asked = Asked {
            seconds: seconds(chosen),
            streams: usize::try_from(parallel(chosen)).unwrap_or(usize::MAX),
            reverse: direction == Direction::In,
        };
        let report = Report::read(&input.stdout, &input.stderr, asked).map_err(|e| failure(input, &e))?;
        let samples = samples(direction, &report, asked);
        let versions = report.version.into_iter().map(|version| ("iperf3".into(), version)).collect();
        Ok(ParseOutput { samples, warnings: Vec::new(), versions })
    }
}

/// One direction: a server on the host for each instance, which ends after its one test.
fn measure(chosen: &Chosen, input: &WorkInput, direction: Direction) -> Step {
    let timeout_s = seconds(chosen) + MARGIN_S;
    let server = |instance: &Instance| Server {
        exec: Exec::new(Place::Host, server_argv(instance), timeout_s),
        port: instance.peer.port,
    };
    let run =
        |instance: &Instance| Exec::new(instance.place, client_argv(chosen, instance, direction), timeout_s);
    let together = Action::Together {
        round: direction.round().into(),
        servers: input.instances.iter().map(server).collect(),
        runs: input.instances.iter().map(run).collect(),
    };
    Step::new(format!("run iperf3, {}", direction.label()), together)
}

fn server_argv(instance: &Instance) -> Vec<String> {
    let port = instance.peer.port.to_string();
    ["iperf3", "-s", "-1", "-B", &instance.peer.listen, "-p", &port].map(String::from).into()
}

fn client_argv(chosen: &Chosen, instance: &Instance, direction: Direction) -> Vec<String> {
    let (port, time) = (instance.peer.port.to_string(), seconds(chosen).to_string());
    let streams = parallel(chosen).to_string();
    let words = ["iperf3", "-c", &instance.peer.address, "-p", &port, "-t", &time, "-P", &streams, "-J"];
    let mut argv = words.map(String::from).to_vec();
    if let Some(bytes) = chosen.whole("window") {
        argv.extend(["-w".into(), bytes.to_string()]);
    }
    if direction == Direction::In {
        argv.push("-R".into());
    }
    argv
}

/// iperf3 counts whole seconds.
fn seconds(chosen: &Chosen) -> f64 {
    chosen.number("time").unwrap_or(10.0).ceil()
}

fn parallel(chosen: &Chosen) -> u64 {
    chosen.whole("parallel").unwrap_or(1)
}

fn samples(direction: Direction, report: &Report, asked: Asked) -> Vec<ParsedSample> {
    let mut flags = Vec::new();
    if report.seconds > TOO_LONG * asked.seconds {
        flags.push(format!("measured over {} s instead of {} s", report.seconds, asked.seconds));
    }
    let value = Value::Measured(report.bits_per_second / 1e6);
    let throughput = ParsedSample { metric: direction.round().into(), value, flags };
    let [instance, host] = report.cpu;
    let details = [("retransmits", report.retransmits), ("cpu_instance", instance), ("cpu_host", host)];
    let details = details.into_iter().filter_map(|(suffix, value)| {
        let value = Value::Measured(value?);
        Some(ParsedSample { metric: direction.metric(suffix), value, flags: Vec::new() })
    });
    std::iter::once(throughput).chain(details).collect()
}

fn failure(input: &ParseInput, error: &ReportError) -> Failure {
    let peer = &input.instance.peer;
    Failure::new(format!(
        "iperf3 from instance {} to {}:{}, round {}, is no result: {error}; \
         the whole output is in the run directory",
        input.instance.index, peer.address, peer.port, input.round
    ))
}
