//! The checks against stand-ins for plugins: a good one of each kind, and the same with one fault each.

use crossvisor_loader::PluginError;
use crossvisor_model::{
    Better, Exec, Kind, Manifest, MetricSpec, Name, Offer, OptionKind, OptionSpec, Volume, VolumeSource,
};
use crossvisor_plugin::envelope::{Answer, Reply};
use crossvisor_plugin::model::{Action, Place, Step, StepResult};
use crossvisor_plugin::sdk::{Chosen, respond};
use crossvisor_plugin::{
    AliveInput, AliveOutput, CreateInput, CreateOutput, DefineInput, Failure, Hypervisor, InspectInput,
    InspectOutput, ParseInput, ParseOutput, ParsedSample, Plugin, Resume, StageInput, StageOutput, Storage,
    Turn, WorkInput, Workload, finish,
};
use serde_json::{Value, json};

use crate::{Finding, Subject, check, passed};

mod staging;

fn name(text: &str) -> Name {
    Name::new(text).expect(text)
}

fn manifest(kind: Kind) -> Manifest {
    let metric = MetricSpec::new("rate", "rate", "MB/s", Better::Higher).headline();
    let offer = Offer {
        options: vec![OptionSpec::new(
            "size",
            OptionKind::Size { min: 1, max: 1 << 40 },
            json!(4096),
            "a size",
        )],
        metrics: if kind == Kind::Workload { vec![metric] } else { Vec::new() },
        stages: kind == Kind::Storage,
        ..Offer::new(name("x"), "an offer")
    };
    Manifest {
        name: name("test-x"),
        version: "1".into(),
        kind,
        summary: "a test".into(),
        offers: vec![offer],
    }
}

fn host(argv: &[&str]) -> Action {
    Action::Exec(Exec::new(Place::Host, argv.iter().copied(), 10.0))
}

struct Disk;

impl Storage for Disk {
    fn manifest(&self) -> Manifest {
        manifest(Kind::Storage)
    }
    fn stage(&self, _: &Chosen, input: &StageInput, resume: &Resume) -> Result<Turn, Failure> {
        if resume.results.is_empty() {
            return Ok(Turn { steps: vec![Step::new("look", host(&["df"]))], ..Turn::default() });
        }
        let golden = input.folder.join(input.name.as_str());
        let copy = host(&["cp", &input.golden.to_string_lossy(), &golden.to_string_lossy()]);
        let undo = Action::RemoveFile { on: Place::Host, path: golden.clone() };
        let output = StageOutput { golden: Some(golden), ..StageOutput::default() };
        finish(vec![Step::new("copy", copy).undone_by(undo)], output)
    }
    fn create(&self, _: &Chosen, input: &CreateInput, _: &Resume) -> Result<Turn, Failure> {
        let path = input.folder.join(format!("{}.raw", input.name));
        let copy = host(&["cp", &input.golden.to_string_lossy(), &path.to_string_lossy()]);
        let step =
            Step::new("copy", copy).undone_by(Action::RemoveFile { on: Place::Host, path: path.clone() });
        let volume = Volume::new(VolumeSource::File(path), "raw");
        finish(vec![step], CreateOutput { volume })
    }
    fn inspect(&self, _: &Chosen, _: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
        match resume.results.first() {
            None => Ok(Turn { steps: vec![Step::new("look", host(&["stat"]))], ..Turn::default() }),
            Some(_) => finish(Vec::new(), InspectOutput::of(None)),
        }
    }
}

struct Machine;

impl Hypervisor for Machine {
    fn manifest(&self) -> Manifest {
        manifest(Kind::Hypervisor)
    }
    fn define(&self, _: &Chosen, input: &DefineInput, _: &Resume) -> Result<Turn, Failure> {
        let name = input.domain.name.to_string();
        let xml = serde_json::to_string(&input.domain).map_err(|e| Failure::new(e.to_string()))?;
        let define = Action::DomainDefine { xml };
        finish(vec![Step::new("define", define).undone_by(Action::DomainUndefine { name })], ())
    }
    fn alive(&self, _: &Chosen, input: &AliveInput, resume: &Resume) -> Result<Turn, Failure> {
        match resume.results.first() {
            Some(StepResult::Domain { active }) => finish(Vec::new(), AliveOutput { alive: *active }),
            _ => {
                let ask = Action::DomainState { name: input.domain.name.to_string() };
                Ok(Turn { steps: vec![Step::new("look", ask)], ..Turn::default() })
            }
        }
    }
}

struct Job;

impl Workload for Job {
    fn manifest(&self) -> Manifest {
        manifest(Kind::Workload)
    }
    fn prepare(&self, _: &Chosen, _: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        finish(Vec::new(), ())
    }
    fn work(&self, _: &Chosen, input: &WorkInput, _: &Resume) -> Result<Turn, Failure> {
        let runs = input.instances.iter().map(|i| Exec::new(i.place, ["job"], 10.0)).collect();
        let round = Action::Together { round: "job".into(), servers: Vec::new(), runs };
        finish(vec![Step::new("work", round)], ())
    }
    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure> {
        let metric = &manifest(Kind::Workload).offers[0].metrics[0];
        let rate = input.stdout.strip_prefix("rate ").and_then(|rate| rate.trim().parse().ok());
        let rate = rate.ok_or_else(|| Failure::new(format!("{}: no rate", chosen.offer)))?;
        Ok(ParseOutput { samples: vec![ParsedSample::measured(metric, rate)], ..ParseOutput::default() })
    }
}

mod disk {
    crossvisor_plugin::plugin!(conformance_disk, storage, Disk);
    use super::Disk;
}
mod machine {
    crossvisor_plugin::plugin!(conformance_machine, hypervisor, Machine);
    use super::Machine;
}
mod job {
    crossvisor_plugin::plugin!(conformance_job, workload, Job);
    use super::Job;
}

/// Changes a reply that belongs to a request.
type Fault = fn(&Value, Result<Turn, Failure>) -> Result<Turn, Failure>;

struct Faulty<P> {
    manifest: Manifest,
    fault: Fault,
    plugin: std::marker::PhantomData<fn(P)>,
}

impl<P: Plugin> Subject for Faulty<P> {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }
    fn ask(&self, request: &[u8]) -> Result<Vec<u8>, PluginError> {
        let asked = serde_json::from_slice(request).unwrap_or_default();
        let answer = match respond::<P>(request).answer {
            Answer::Ok(turn) => Ok(turn),
            Answer::Error(failure) => Err(failure),
        };
        let answer = match (self.fault)(&asked, answer) {
            Ok(turn) => Answer::Ok(turn),
            Err(failure) if failure.message == DIES => {
                return Err(PluginError::Ended { plugin: name("test-x"), reason: DIES.into() });
            }
            Err(failure) => Answer::Error(failure),
        };
        Ok(serde_json::to_vec(&Reply { v: 1, answer }).expect("reply"))
    }
}

/// The words of a refusal that stands for the end of the plugin.
const DIES: &str = "ended by signal 11";

fn findings<P: Plugin>(change: impl FnOnce(&mut Manifest), fault: Fault) -> Vec<Finding> {
    let mut manifest = P::manifest();
    change(&mut manifest);
    check(&Faulty::<P> { manifest, fault, plugin: std::marker::PhantomData })
}

/// Asserts that exactly these checks find errors, and that one of their texts has `part`.
fn fails<P: Plugin>(checks: &[&str], part: &str, change: impl FnOnce(&mut Manifest), fault: Fault) {
    let found = findings::<P>(change, fault);
    let failed: Vec<_> = found.iter().filter(|f| f.is_error()).collect();
    assert_eq!(failed.iter().map(|f| f.check.as_str()).collect::<Vec<_>>(), checks, "{failed:#?}");
    let texts: String = failed.iter().flat_map(|f| &f.problems).map(|p| format!("{}\n", p.text)).collect();
    assert!(texts.contains(part), "no '{part}' in {texts}");
}

fn faults<P: Plugin>(checks: &[&str], part: &str, fault: Fault) {
    fails::<P>(checks, part, |_| {}, fault);
}

/// Edits the turns of one operation.
fn edit(
    asked: &Value,
    op: &str,
    answer: Result<Turn, Failure>,
    edit: impl FnOnce(&mut Turn),
) -> Result<Turn, Failure> {
    let mut turn = answer?;
    if asked["op"] == op {
        edit(&mut turn);
    }
    Ok(turn)
}

#[test]
fn a_plugin_that_keeps_the_contract_passes_every_check() {
    let quiet: Fault = |_, answer| answer;
    for found in
        [findings::<Disk>(|_| {}, quiet), findings::<Machine>(|_| {}, quiet), findings::<Job>(|_| {}, quiet)]
    {
        assert!(passed(&found), "{found:#?}");
        assert!(found.iter().all(|finding| finding.problems.is_empty()), "{found:#?}");
        assert!(found.len() >= 8);
    }
}

#[test]
fn faults_of_a_manifest_are_found() {
    let quiet: Fault = |_, answer| answer;
    let fails = |part: &str, change: fn(&mut Manifest)| fails::<Job>(&["manifest"], part, change, quiet);
    fails("offer 'x' is there more than once", |m| m.offers.push(m.offers[0].clone()));
    fails("option 'size' is there more than once", |m| {
        let option = m.offers[0].options[0].clone();
        m.offers[0].options.push(option);
    });
    fails("the default 0 of option 'size' is not one", |m| m.offers[0].options[0].default = Some(json!(0)));
    fails("the default \"4KiB\"", |m| m.offers[0].options[0].default = Some(json!("4KiB")));
    fails("min 9 is above max 8", |m| {
        m.offers[0].options[0].kind = OptionKind::Integer { min: 9, max: 8 };
        m.offers[0].options[0].default = None;
    });
    fails("its version is empty", |m| m.version.clear());
    let found = findings::<Job>(|m| m.offers.clear(), quiet);
    assert!(!passed(&found));
}

#[test]
fn a_plugin_that_takes_what_is_wrong_is_found() {
    faults::<Disk>(&["another envelope version is refused"], "version 4711", |asked, answer| {
        if asked["v"].as_u64() > Some(1) { Ok(Turn { done: true, ..Turn::default() }) } else { answer }
    });
    faults::<Disk>(&["unknown operations are refused"], "operation 'work'", |asked, answer| {
        if asked["op"] == "work" { Ok(Turn { done: true, ..Turn::default() }) } else { answer }
    });
    faults::<Disk>(&["unknown offers are refused"], "does not make is answered", |asked, answer| {
        if asked["offer"] == "no-such-offer" { Ok(Turn { done: true, ..Turn::default() }) } else { answer }
    });
    faults::<Disk>(&["malformed requests are refused"], "an array 100000 deep", |asked, answer| {
        if asked.is_null() { Ok(Turn { done: true, ..Turn::default() }) } else { answer }
    });
}

#[test]
fn steps_that_cannot_be_carried_out_or_undone_are_found() {
    let undo = |asked: &Value, answer| edit(asked, "define", answer, |turn| turn.steps[0].undo = None);
    faults::<Machine>(&["define"], "the undo domain_undefine is missing", undo);
    faults::<Disk>(&["create"], "no program to run", |asked, answer| {
        edit(asked, "create", answer, |turn| turn.steps.push(Step::new("nothing", host(&[]))))
    });
    faults::<Disk>(&["create"], "a timeout of 0 s", |asked, answer| {
        edit(asked, "create", answer, |turn| {
            turn.steps.push(Step::new("wait", Action::Exec(Exec::new(Place::Host, ["true"], 0.0))));
        })
    });
    faults::<Disk>(&["create"], "cannot happen on guest 1", |asked, answer| {
        edit(asked, "create", answer, |turn| {
            turn.steps.push(Step::new("w", Action::Exec(Exec::new(Place::Guest(1), ["true"], 1.0))));
        })
    });
    faults::<Disk>(&["create"], "written into a shell's script", |asked, answer| {
        edit(asked, "create", answer, |turn| {
            let script = format!("chmod 600 {}/x", crate::inputs::FOLDER);
            turn.steps.push(Step::new("shell", host(&["sh", "-c", &script])));
        })
    });
    faults::<Disk>(&["create"], "does not carry the name", |asked, answer| {
        edit(asked, "create", answer, |turn| {
            turn.output["volume"]["source"] = json!({"file": format!("{}/x", crate::inputs::FOLDER)});
        })
    });
}

#[test]
fn rounds_that_do_not_fit_the_instances_are_found() {
    faults::<Job>(&["work"], "instances are at [Guest(1), Guest(2), Guest(3)]", |asked, answer| {
        edit(asked, "work", answer, |turn| {
            if let Action::Together { runs, .. } = &mut turn.steps[0].action {
                runs.reverse();
            }
        })
    });
    faults::<Job>(&["work"], "it measures nothing", |asked, answer| {
        edit(asked, "work", answer, |turn| turn.steps.clear())
    });
}

#[test]
fn samples_out_of_nothing_are_found() {
    let both = ["parse of what is no result", "parse of much text"];
    let fault: Fault = |asked, answer| {
        if asked["op"] == "parse" {
            Ok(Turn {
                done: true,
                output: json!({"samples": [{"metric": "rate", "measured": 1.0}]}),
                ..Turn::default()
            })
        } else {
            answer
        }
    };
    faults::<Job>(&both, "from no result", fault);
}

#[test]
fn an_operation_that_never_ends_and_a_reply_that_changes_are_found() {
    faults::<Disk>(&["create"], "not done after 100 turns", |asked, answer| {
        edit(asked, "create", answer, |turn| turn.done = false)
    });
    static CALLS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let all = ["work", "parse of what is no result", "parse of much text", "several calls at once"];
    faults::<Job>(&all, "answered differently the second time", |asked, answer| {
        edit(asked, "work", answer, |turn| {
            turn.output = json!(CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        })
    });
}

#[test]
fn a_plugin_that_dies_is_not_asked_again() {
    let dies: Fault = |asked, answer| if asked["op"] == "inspect" { Err(Failure::new(DIES)) } else { answer };
    let found = findings::<Disk>(|_| {}, dies);
    let last: Vec<_> = found.iter().rev().take(2).map(|f| (f.check.as_str(), f.problems.len())).collect();
    assert_eq!(last, [("the other checks", 1), ("inspect", 1)], "{found:#?}");
    assert!(found[found.len() - 2].problems[0].text.contains(DIES), "{found:#?}");
}
