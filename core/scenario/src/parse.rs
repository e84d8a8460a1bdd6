//! YAML text to [`Scenario`].
//!
//! Owns the keys of the language, what each takes, and the defaults. It must never know what plugins offer.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;

use crossvisor_model::{Axes, Deadlines, Name, Seconds, Share};

use crate::hosts::hosts;
use crate::measuring;
use crate::precision;
use crate::problem::Problem;
use crate::reader::{Fields, Reader};
use crate::scenario::{Definition, Definitions, Guest, Matrix, Point, Scenario, Selection};
use crate::source::{Source, Span, Spanned};
use crate::tree::{self, Node};

const KEYS: [&str; 12] = [
    "name",
    "description",
    "hosts",
    "guest",
    "matrix",
    "hypervisors",
    "storages",
    "workloads",
    "repeat",
    "seed",
    "compare",
    "deadlines",
];
const AXES: [&str; 5] = ["host", "hypervisor", "storage", "guests", "workload"];
const DEFAULT_SEED: u64 = 1;
const MAX_GUESTS: i128 = 1000;
const MAX_VCPUS: i128 = 512;
/// A millisecond to thirty days.
const DEADLINE_S: std::ops::RangeInclusive<f64> = 0.001..=2_592_000.0;

/// Reads a scenario. `file` is the name that problems carry.
///
/// # Errors
/// Every [`Problem`] of form that can be told apart, in the order of their places: YAML syntax, unknown,
/// duplicate and missing keys, wrong types and units, values out of range, empty axes.
pub fn parse(source: &str, file: &str) -> Result<Scenario, Vec<Problem>> {
    let source = Source::new(source, file);
    let root = tree::read(&source)?;
    let mut reader = Reader::new(&source);
    let scenario = scenario(&mut reader, &root, &source);
    reader.finish(scenario)
}

fn scenario(reader: &mut Reader, root: &Node, source: &Source) -> Option<Scenario> {
    let keys = [KEYS.as_slice(), &measuring::KEYS].concat();
    let fields = reader.fields(root, "the scenario", &keys, &["name", "guest", "matrix"])?;
    let name = fields.get("name").and_then(|node| reader.name(node, "name"));
    let description = fields.get("description").and_then(|node| reader.text(node, "description", "a text"));
    let hosts = hosts(reader, fields.get("hosts"));
    let guest = fields.get("guest").and_then(|node| guest(reader, node));
    let matrix = fields.get("matrix").and_then(|node| matrix(reader, node, fields.key_span("matrix")));
    let hypervisors = definitions(reader, &fields, "hypervisors");
    let storages = definitions(reader, &fields, "storages");
    let workloads = definitions(reader, &fields, "workloads");
    let repeat = fields.get("repeat").and_then(|node| precision::repeat(reader, node));
    let seed = fields.get("seed").and_then(|node| reader.whole(node, "seed", 0..=u64::MAX.into()));
    let (baseline, threshold) = fields.get("compare").map(|node| compare(reader, node)).unwrap_or_default();
    let deadlines = deadlines(reader, fields.get("deadlines"));
    let measured = measuring::measuring(reader, &fields);
    let telemetry = measuring::telemetry(reader, &fields);
    Some(Scenario {
        name: name?.value,
        description: description.map(|text| text.value).unwrap_or_default(),
        hosts: hosts?,
        guest: guest?,
        repeat: repeat.unwrap_or_default(),
        seed: seed.and_then(|number| u64::try_from(number.value).ok()).unwrap_or(DEFAULT_SEED),
        deadlines,
        measuring: measured,
        telemetry,
        matrix: matrix?,
        hypervisors,
        storages,
        workloads,
        baseline,
        threshold,
        source: source.clone(),
    })
}

/// A whole number from 1 to `most`.
fn whole(reader: &mut Reader, node: &Node, what: &str, most: i128) -> Option<Spanned<u32>> {
    let number = reader.whole(node, what, 1..=most)?;
    Some(Spanned { value: u32::try_from(number.value).ok()?, span: number.span })
}

/// A number of virtual processors.
pub(crate) fn vcpus(reader: &mut Reader, node: &Node) -> Option<Spanned<u32>> {
    whole(reader, node, "vcpus", MAX_VCPUS)
}

fn guest(reader: &mut Reader, node: &Node) -> Option<Guest> {
    let fields = reader.fields(node, "guest", &["image", "memory", "vcpus"], &["image", "memory"])?;
    let image = fields.get("image").and_then(|node| reader.name(node, "image"));
    let memory = fields.get("memory").and_then(|node| reader.size(node, "memory"));
    let vcpus = fields.get("vcpus").and_then(|node| vcpus(reader, node));
    Some(Guest { image: image?, memory: memory?, vcpus: vcpus.map_or(1, |number| number.value) })
}

fn matrix(reader: &mut Reader, node: &Node, span: Span) -> Option<Matrix> {
    let keys = [AXES.as_slice(), &["exclude", "include"]].concat();
    let fields = reader.fields(node, "matrix", &keys, &["hypervisor", "guests", "workload"])?;
    let axes = selection(reader, &fields);
    if fields.get("storage").is_none() && axes.hypervisor.iter().any(|name| name.value.as_str() != Axes::BARE)
    {
        let help = "guests need a disk: add for example 'storage: [file]'";
        reader.problem(span, "matrix lacks the key 'storage'", help);
    }
    let mut exclude = Vec::new();
    for node in fields.get("exclude").and_then(|node| mappings(reader, node, "exclude")).unwrap_or_default() {
        let Some(fields) = reader.fields(node, "exclude", &AXES, &[]) else { continue };
        if fields.is_empty() {
            reader.problem(node.span, "this exclude names no axis", "say which cells: {hypervisor: bare}");
        }
        exclude.push(selection(reader, &fields));
    }
    let mut include = Vec::new();
    for node in fields.get("include").and_then(|node| mappings(reader, node, "include")).unwrap_or_default() {
        include.extend(point(reader, node, "include", &AXES, &["hypervisor", "guests", "workload"]));
    }
    Some(Matrix { span, axes, exclude_span: fields.key_span("exclude"), exclude, include })
}

/// A list of mappings; one mapping may stand for a list of one.
fn mappings<'n>(reader: &mut Reader, node: &'n Node, what: &str) -> Option<&'n [Node]> {
    match &node.value {
        tree::Value::Mapping(_) => Some(std::slice::from_ref(node)),
        _ => reader.list(node, what),
    }
}

fn selection(reader: &mut Reader, fields: &Fields) -> Selection {
    Selection {
        span: fields.span(),
        host: axis(reader, fields, "host", Reader::name),
        hypervisor: axis(reader, fields, "hypervisor", Reader::name),
        storage: axis(reader, fields, "storage", Reader::name),
        guests: axis(reader, fields, "guests", |r, node, what| whole(r, node, what, MAX_GUESTS)),
        workload: axis(reader, fields, "workload", Reader::name),
    }
}

/// The different values of one axis.
fn axis<T: Eq + Hash + Clone + Display>(
    reader: &mut Reader,
    fields: &Fields,
    axis: &str,
    read: impl Fn(&mut Reader, &Node, &str) -> Option<Spanned<T>>,
) -> Vec<Spanned<T>> {
    let Some(items) = fields.get(axis).and_then(|node| reader.list(node, axis)) else {
        return Vec::new();
    };
    let mut seen = HashSet::new();
    let mut values = Vec::new();
    for node in items {
        let Some(item) = read(reader, node, axis) else { continue };
        if seen.insert(item.value.clone()) {
            values.push(item);
        } else {
            reader.problem(item.span, format!("{axis} has '{}' twice", item.value), "keep one of them");
        }
    }
    values
}

fn point(reader: &mut Reader, node: &Node, what: &str, keys: &[&str], required: &[&str]) -> Option<Point> {
    let fields = reader.fields(node, what, keys, required)?;
    let mut name = |axis: &str| fields.get(axis).and_then(|node| reader.name(node, axis));
    let (host, hypervisor, storage, workload) =
        (name("host"), name("hypervisor"), name("storage"), name("workload"));
    let guests = fields.get("guests").and_then(|node| whole(reader, node, "guests", MAX_GUESTS));
    Some(Point { span: node.span, host, hypervisor, storage, guests, workload })
}

/// The baseline and the difference that matters.
fn compare(reader: &mut Reader, node: &Node) -> (Option<Point>, Option<Share>) {
    let Some(fields) = reader.fields(node, "compare", &["baseline", "threshold"], &["baseline"]) else {
        return (None, None);
    };
    let threshold = fields.get("threshold").and_then(|node| precision::threshold(reader, node));
    (fields.get("baseline").and_then(|node| baseline(reader, node)), threshold)
}

fn baseline(reader: &mut Reader, node: &Node) -> Option<Point> {
    if reader.entries(node, "baseline")?.is_empty() {
        reader.problem(node.span, "the baseline names no axis", "for example baseline: {hypervisor: bare}");
    }
    point(reader, node, "baseline", &["host", "hypervisor", "storage", "guests"], &[])
}

fn definitions(reader: &mut Reader, fields: &Fields, section: &str) -> Definitions {
    let entries = fields.get(section).and_then(|node| reader.entries(node, section)).unwrap_or_default();
    let mut definitions = BTreeMap::new();
    for (key, node) in entries {
        let name = reader.key_name(key, section);
        let what = format!("{section}: '{}'", key.value);
        let options = reader.entries(node, &what);
        if let (Some(name), Some(options)) = (name, options) {
            if let Some(definition) = definition(reader, &name, options) {
                definitions.insert(name.value, definition);
            }
        }
    }
    definitions
}

fn definition(
    reader: &mut Reader,
    name: &Spanned<Name>,
    entries: &[(Spanned<String>, Node)],
) -> Option<Definition> {
    if name.value.as_str() == Axes::BARE {
        reader.problem(name.span, "'bare' is the host itself and has no options", "choose another name");
    }
    let offer = match entries.iter().find(|(key, _)| key.value == "use") {
        Some((_, node)) => reader.name(node, "use")?,
        None => name.clone(),
    };
    let options = entries.iter().filter(|(key, _)| key.value != "use").cloned().collect();
    Some(Definition { span: name.span, offer, options })
}

fn deadlines(reader: &mut Reader, node: Option<&Node>) -> Deadlines {
    let mut deadlines = Deadlines::default();
    let keys = ["create", "boot", "prepare", "run", "collect", "destroy"];
    let Some(fields) = node.and_then(|node| reader.fields(node, "deadlines", &keys, &[])) else {
        return deadlines;
    };
    let mut set = |key: &str, place: &mut Seconds| {
        if let Some(time) = fields.get(key).and_then(|node| reader.time(node, key, DEADLINE_S)) {
            *place = time.value;
        }
    };
    set("create", &mut deadlines.create);
    set("boot", &mut deadlines.boot);
    set("prepare", &mut deadlines.prepare);
    set("run", &mut deadlines.run);
    set("collect", &mut deadlines.collect);
    set("destroy", &mut deadlines.destroy);
    deadlines
}
