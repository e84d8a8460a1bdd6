//! What every plugin must refuse, whatever its kind, and that it can be asked from several threads.

use crossvisor_model::{Accel, Kind, Name};
use crossvisor_plugin::{Call, Request};
use serde_json::{Value, json};

use crate::inputs;
use crate::options;
use crate::session::{Said, Session};

/// Threads of the last check.
const THREADS: usize = 4;

/// A request that the plugin should answer well: the first operation of its kind, with the defaults.
fn good(session: &mut Session<'_>) -> Option<Request> {
    let manifest = session.subject.manifest();
    let offer = manifest.offers.first()?;
    let name = Name::new(inputs::NAME).ok()?;
    let call = match manifest.kind {
        Kind::Hypervisor => inputs::define(&name, Accel::Tcg, inputs::user(), false),
        Kind::Storage => inputs::create(&name, inputs::GOLDEN.as_ref()),
        Kind::Workload => Call::Work(inputs::work(&[inputs::instance(1, false)])),
        Kind::Telemetry => inputs::sources(crossvisor_model::Place::Host),
    };
    let defaults = options::defaults(session, offer, &call);
    Some(inputs::request(offer, &defaults, call))
}

/// The good request in its JSON form, changed.
fn changed(session: &mut Session<'_>, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut request =
        good(session).and_then(|request| serde_json::to_value(request).ok()).unwrap_or_default();
    change(&mut request);
    request.to_string().into_bytes()
}

fn must_refuse(session: &mut Session<'_>, what: &str, request: &[u8]) {
    if let Some(Ok(_)) = session.send(request) {
        session.error(format!("{what} is answered as if it were right"));
    }
}

/// Bytes that are no request. A plugin may throw these away without a reply as well.
pub(crate) fn malformed(session: &mut Session<'_>) {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes();
    let whole = changed(session, |_| {});
    let cut = whole.get(..whole.len() / 2).unwrap_or_default().to_vec();
    let without_op = changed(session, |request| drop(request.as_object_mut().map(|o| o.remove("op"))));
    let without_input = changed(session, |request| drop(request.as_object_mut().map(|o| o.remove("input"))));
    let other_input = changed(session, |request| request["input"] = json!([1, "two", null]));
    let tries: [(&str, &[u8]); 9] = [
        ("a text that is no JSON", b"hello"),
        ("half a request", &cut),
        ("an array", b"[]"),
        ("null", b"null"),
        ("an empty object", b"{}"),
        ("a request that is not UTF-8", b"{\"v\":1,\"op\":\"\xff\xfe\"}"),
        ("an array 100000 deep", &deep),
        ("a request without an operation", &without_op),
        ("a request without input", &without_input),
    ];
    for (what, request) in tries {
        refused_or_thrown_away(session, what, request);
    }
    refused_or_thrown_away(session, "input of another form", &other_input);
}

fn refused_or_thrown_away(session: &mut Session<'_>, what: &str, request: &[u8]) {
    use crossvisor_loader::PluginError::Internal;
    if let Err(Internal { .. }) = session.subject.ask(request) {
        return;
    }
    must_refuse(session, what, request);
}

pub(crate) fn version(session: &mut Session<'_>) {
    for v in [0, 2, 4711] {
        let request = changed(session, |request| request["v"] = json!(v));
        must_refuse(session, &format!("envelope version {v}"), &request);
    }
}

/// Operations that no plugin has, and those of the other kinds.
pub(crate) fn operations(session: &mut Session<'_>) {
    let of_others: &[&str] = match session.subject.manifest().kind {
        Kind::Hypervisor => &["create", "inspect", "prepare", "work", "parse"],
        Kind::Storage => &["define", "alive", "prepare", "work", "parse"],
        Kind::Workload => &["stage", "define", "alive", "create", "inspect"],
        Kind::Telemetry => &["stage", "define", "create", "prepare", "work", "parse"],
    };
    for op in ["", "no_such_operation"].iter().chain(of_others) {
        let request = changed(session, |request| request["op"] = json!(op));
        must_refuse(session, &format!("operation '{op}'"), &request);
    }
}

pub(crate) fn offers(session: &mut Session<'_>) {
    let request = changed(session, |request| request["offer"] = json!("no-such-offer"));
    must_refuse(session, "an offer that it does not make", &request);
}

pub(crate) fn at_once(session: &mut Session<'_>) {
    let Some(request) = good(session).and_then(|request| serde_json::to_vec(&request).ok()) else { return };
    let subject = session.subject;
    let Ok(alone) = subject.ask(&request) else { return };
    let answers: Vec<Result<Vec<u8>, String>> = std::thread::scope(|scope| {
        let ask = || subject.ask(&request).map_err(|error| error.to_string());
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| Err("a thread panicked".into()))).collect()
    });
    for answer in answers {
        match answer {
            Ok(reply) if reply == alone => {}
            Ok(_) => session.error(format!("asked from {THREADS} threads at once it answers otherwise")),
            Err(error) => session.error(format!("asked from {THREADS} threads at once: {error}")),
        }
    }
}

/// Asks the same twice: a plugin has no memory but the state it is given back.
pub(crate) fn ask_twice(session: &mut Session<'_>, request: &Request) -> Option<Said> {
    let first = session.ask(request)?;
    let second = session.ask(request)?;
    if first != second {
        session.error("the same request is answered differently the second time");
    }
    Some(first)
}
