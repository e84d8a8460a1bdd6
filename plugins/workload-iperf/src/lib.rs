//! Workloads `iperf` and `iperf2`: network throughput of every instance at once, one direction after the other.
//!
//! Owns the command lines of iperf3 and iperf 2 and the meaning of what they print. It must never run them.

mod asked;
mod command;
mod csv;
mod detail;
mod direction;
mod import;
mod json;
mod manifest;
mod pairs;
mod quantity;
mod read;
mod report;
mod text;
mod values;
mod verdict;

use crossvisor_plugin::model::action::Server;
use crossvisor_plugin::model::{Action, Exec, Manifest, Step};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    Failure, ImportInput, ImportOutput, ParseInput, ParseOutput, Resume, Turn, WorkInput, Workload, finish,
};

use asked::Asked;
use direction::Direction;
use pairs::{Pair, pairs};

/// The plugin.
pub struct Iperf;

crossvisor_plugin::plugin!(workload_iperf, workload, Iperf);

/// Beyond the asked time, for connecting and for a guest that is slow.
const MARGIN_S: f64 = 120.0;

impl Workload for Iperf {
    fn manifest(&self) -> Manifest {
        manifest::manifest().unwrap_or_else(|e| unreachable!("the plugin's own names are valid: {e}"))
    }

    fn prepare(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let asked = Asked::of(chosen)?;
        pairs(&asked.between, asked.tool, &input.instances)?;
        finish(Vec::new(), ())
    }

    fn work(&self, chosen: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let asked = Asked::of(chosen)?;
        let pairs = pairs(&asked.between, asked.tool, &input.instances)?;
        finish(asked.directions.iter().map(|direction| measure(&asked, &pairs, *direction)).collect(), ())
    }

    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        verdict::verdict(&Asked::of(chosen)?, input)
    }

    fn import(&self, _: &Chosen, input: &ImportInput) -> Result<ImportOutput, Failure> {
        import::import(input)
    }
}

/// One direction: the servers, then all clients at once.
fn measure(asked: &Asked, pairs: &[Pair<'_>], direction: Direction) -> Step {
    let timeout_s = asked.seconds + MARGIN_S;
    let server = |pair: &Pair<'_>| {
        let server = pair.server?;
        let exec = Exec::new(server.place, command::server(asked, pair, server), timeout_s);
        Some(Server { exec, port: pair.port })
    };
    let run =
        |pair: &Pair<'_>| Exec::new(pair.client.place, command::client(asked, pair, direction), timeout_s);
    let together = Action::Together {
        round: direction.round().into(),
        servers: pairs.iter().filter_map(server).collect(),
        runs: pairs.iter().map(run).collect(),
    };
    Step::new(format!("run {}, {}", asked.tool.label(), direction.label()), together)
}
