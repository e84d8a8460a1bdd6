//! What makes a plugin a library of the C contract.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use serde_json::Value;

use super::{Chosen, Plugin, Resume};
use crate::abi::{
    ABI_MAJOR, ABI_MINOR, CALL_INTERNAL, CALL_OK, CALL_SINK, CallFn, Descriptor, MAGIC, WriteFn,
};
use crate::envelope::{Answer, Call, Failure, Reply, Request, Turn, VERSION};

/// Answers one request in its JSON form; never panics and never fails without a reply.
pub fn respond<P: Plugin>(request: &[u8]) -> Reply {
    reply(|| understood::<P>(request).and_then(answer::<P>))
}

/// What [`respond`] gives, as JSON. The output of an import may be large: it is never held in a form between.
fn respond_in_json<P: Plugin>(request: &[u8]) -> serde_json::Result<Vec<u8>> {
    match reply(|| understood::<P>(request)).answer {
        Answer::Ok(Request { offer, options, call: Call::Import(input), .. }) => {
            let turn = |output| Turn { steps: Vec::new(), done: true, output, state: Value::Null };
            let chosen = Chosen { offer, options };
            serde_json::to_vec(&reply(|| P::import(&chosen, &input).map(turn)))
        }
        Answer::Ok(request) => serde_json::to_vec(&reply(|| answer::<P>(request))),
        Answer::Error(failure) => {
            serde_json::to_vec(&Reply::<()> { v: VERSION, answer: Answer::Error(failure) })
        }
    }
}

fn understood<P: Plugin>(request: &[u8]) -> Result<Request, Failure> {
    let request: Request = serde_json::from_slice(request)
        .map_err(|e| Failure::new(format!("the request is not one of envelope version {VERSION}: {e}")))?;
    if request.v != VERSION {
        return Err(Failure::new(format!("envelope version {} is not {VERSION}", request.v)));
    }
    if !P::offers().contains(&request.offer) {
        return Err(Failure::new(format!("this plugin does not offer '{}'", request.offer)));
    }
    Ok(request)
}

fn answer<P: Plugin>(request: Request) -> Result<Turn, Failure> {
    let chosen = Chosen { offer: request.offer, options: request.options };
    P::answer(&chosen, &request.call, &Resume { state: request.state, results: request.results })
}

fn reply<T>(work: impl FnOnce() -> Result<T, Failure>) -> Reply<T> {
    let answer = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(turn)) => Answer::Ok(turn),
        Ok(Err(failure)) => Answer::Error(failure),
        Err(panic) => Answer::Error(Failure::new(format!("the plugin panicked: {}", panic_text(&*panic)))),
    };
    Reply { v: VERSION, answer }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// The contract's `call` for a plugin written in Rust.
///
/// # Safety
/// `request` points to `length` readable bytes, and `write` may be called with `sink`.
pub unsafe extern "C" fn call<P: Plugin>(
    request: *const u8,
    length: usize,
    write: WriteFn,
    sink: *mut c_void,
) -> i32 {
    if request.is_null() {
        return CALL_INTERNAL;
    }
    // SAFETY: the caller promises `length` readable bytes.
    let request = unsafe { std::slice::from_raw_parts(request, length) };
    let Ok(reply) = respond_in_json::<P>(request) else {
        return CALL_INTERNAL;
    };
    // SAFETY: the caller promises that `write` takes `sink`; the bytes live until it returns.
    match unsafe { write(sink, reply.as_ptr(), reply.len()) } {
        0 => CALL_OK,
        _ => CALL_SINK,
    }
}

/// The descriptor of a plugin written in Rust, made at first use.
pub fn descriptor<P: Plugin>(once: &'static OnceLock<Descriptor>) -> *const Descriptor {
    once.get_or_init(|| {
        let manifest =
            catch_unwind(|| serde_json::to_vec(&P::manifest()).unwrap_or_default()).unwrap_or_default();
        let manifest: &'static [u8] = Box::leak(manifest.into_boxed_slice());
        Descriptor {
            magic: MAGIC,
            struct_size: u32::try_from(std::mem::size_of::<Descriptor>()).unwrap_or_default(),
            abi_major: ABI_MAJOR,
            abi_minor: ABI_MINOR,
            manifest_json: manifest.as_ptr(),
            manifest_length: manifest.len(),
            call: call::<P> as CallFn,
            reserved: [std::ptr::null_mut(); 4],
        }
    })
}
