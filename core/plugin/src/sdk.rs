//! The SDK: implement one trait, name it in [`plugin!`](crate::plugin!), and the library is a plugin.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crossvisor_model::{Action, Manifest, Name, Options, Recording, Step, StepResult};
use serde::Serialize;
use serde_json::Value;

use crate::abi::{
    ABI_MAJOR, ABI_MINOR, CALL_INTERNAL, CALL_OK, CALL_SINK, CallFn, Descriptor, MAGIC, WriteFn,
};
use crate::envelope::{
    AliveInput, AliveOutput, Answer, Call, CreateInput, DefineInput, Failure, ImportInput, ImportOutput,
    InspectInput, ParseInput, ParseOutput, RecordInput, Reply, Request, SourcesInput, SourcesOutput,
    StageInput, Turn, VERSION, WorkInput,
};

/// Where an operation stands: what the plugin remembered, and what came of its last steps.
#[derive(Clone, Debug, Default)]
pub struct Resume {
    /// Null at the first turn.
    pub state: Value,
    /// Empty at the first turn.
    pub results: Vec<StepResult>,
}

/// The offer that is meant, with its checked options.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub offer: Name,
    pub options: Options,
}

impl Chosen {
    /// A number option: an integer, whole bytes of a size, or seconds of a duration. `None` when it is unset.
    #[must_use]
    pub fn number(&self, option: &str) -> Option<f64> {
        self.options.get(option).and_then(Value::as_f64)
    }

    /// A whole number or whole bytes. `None` when it is unset.
    #[must_use]
    pub fn whole(&self, option: &str) -> Option<u64> {
        self.options.get(option).and_then(Value::as_u64)
    }

    /// A word. `None` when it is unset.
    #[must_use]
    pub fn word(&self, option: &str) -> Option<&str> {
        self.options.get(option).and_then(Value::as_str)
    }

    /// A switch; false when it is unset.
    #[must_use]
    pub fn is_on(&self, option: &str) -> bool {
        self.options.get(option).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// A turn that ends the operation with `output`.
///
/// # Errors
/// [`Failure`] when `output` has no JSON form.
pub fn finish(steps: Vec<crossvisor_model::Step>, output: impl Serialize) -> Result<Turn, Failure> {
    let output =
        serde_json::to_value(output).map_err(|e| Failure::new(format!("output has no JSON form: {e}")))?;
    Ok(Turn { steps, done: true, output, state: Value::Null })
}

/// Makes domains.
pub trait Hypervisor {
    fn manifest(&self) -> Manifest;
    /// Only asked of an offer whose manifest says that it `stages`.
    ///
    /// # Errors
    /// [`Failure`] when the host lacks what the run will need.
    fn stage(&self, _: &Chosen, _: &StageInput, _: &Resume) -> Result<Turn, Failure> {
        Err(Failure::new("this plugin has nothing to stage"))
    }
    /// # Errors
    /// [`Failure`] when the domain cannot be made as asked.
    fn define(&self, chosen: &Chosen, input: &DefineInput, resume: &Resume) -> Result<Turn, Failure>;
    /// Whether libvirt runs the domain. A hypervisor whose guests are no domains of libvirt has its own answer.
    ///
    /// # Errors
    /// [`Failure`] when the steps' results do not tell.
    fn alive(&self, _: &Chosen, input: &AliveInput, resume: &Resume) -> Result<Turn, Failure> {
        match resume.results.first() {
            None => {
                let ask = Action::DomainState { name: input.domain.name.to_string() };
                Ok(Turn { steps: vec![Step::new("look at the domain", ask)], ..Turn::default() })
            }
            Some(StepResult::Domain { active }) => finish(Vec::new(), AliveOutput { alive: *active }),
            Some(other) => Err(Failure::new(format!("the domain's state was answered by {other:?}"))),
        }
    }
}

/// Makes volumes.
pub trait Storage {
    fn manifest(&self) -> Manifest;
    /// Only asked of an offer whose manifest says that it `stages`.
    ///
    /// # Errors
    /// [`Failure`] when the host lacks what the run will need.
    fn stage(&self, _: &Chosen, _: &StageInput, _: &Resume) -> Result<Turn, Failure> {
        Err(Failure::new("this plugin has nothing to stage"))
    }
    /// # Errors
    /// [`Failure`] when the volume cannot be made as asked.
    fn create(&self, chosen: &Chosen, input: &CreateInput, resume: &Resume) -> Result<Turn, Failure>;
    /// # Errors
    /// [`Failure`] when the steps' results do not tell.
    fn inspect(&self, chosen: &Chosen, input: &InspectInput, resume: &Resume) -> Result<Turn, Failure>;
}

/// Does work and reads what it printed.
pub trait Workload {
    fn manifest(&self) -> Manifest;
    /// # Errors
    /// [`Failure`] when the options do not fit the instances.
    fn prepare(&self, chosen: &Chosen, input: &WorkInput, resume: &Resume) -> Result<Turn, Failure>;
    /// # Errors
    /// [`Failure`] when the options do not fit the instances.
    fn work(&self, chosen: &Chosen, input: &WorkInput, resume: &Resume) -> Result<Turn, Failure>;
    /// # Errors
    /// [`Failure`] with the tool's own words when the output is not a result.
    fn parse(&self, chosen: &Chosen, input: &ParseInput) -> Result<ParseOutput, Failure>;
    /// Only asked of an offer whose manifest says that it `imports`.
    ///
    /// # Errors
    /// [`Failure`] when the file cannot be of this tool at all; a part that is no result is told of as refused.
    fn import(&self, _: &Chosen, _: &ImportInput) -> Result<ImportOutput, Failure> {
        Err(Failure::new("this plugin imports nothing"))
    }
}

/// Tells what machines do while guests work.
pub trait Telemetry {
    fn manifest(&self) -> Manifest;
    /// # Errors
    /// [`Failure`] when the options make no sense.
    fn sources(&self, chosen: &Chosen, input: &SourcesInput) -> Result<SourcesOutput, Failure>;
    /// # Errors
    /// [`Failure`] with what was expected when the text is not the source's.
    fn record(&self, chosen: &Chosen, input: &RecordInput) -> Result<Recording, Failure>;
    /// Only asked of an offer whose manifest says that it `imports`.
    ///
    /// # Errors
    /// [`Failure`] when the file cannot be of this tool at all; a part that is no result is told of as refused.
    fn import(&self, _: &Chosen, _: &ImportInput) -> Result<ImportOutput, Failure> {
        Err(Failure::new("this plugin imports nothing"))
    }
}

/// Any plugin: a manifest and an answer to every request. Implemented by [`plugin!`](crate::plugin!).
pub trait Plugin {
    fn manifest() -> Manifest;
    /// The names of the manifest's offers; a request for another is refused before `answer` sees it.
    fn offers() -> &'static [Name];
    /// # Errors
    /// [`Failure`] as the operation has it, or for an operation of another kind of plugin.
    fn answer(chosen: &Chosen, call: &Call, resume: &Resume) -> Result<Turn, Failure>;
    /// The answer to an import, whose output may be large: it goes into the reply as it is.
    ///
    /// # Errors
    /// [`Failure`] of the plugin, or for a plugin that has nothing to import.
    fn import(_: &Chosen, _: &ImportInput) -> Result<ImportOutput, Failure> {
        Err(unknown_operation("plugin of this kind"))
    }
}

/// Sends a call to a hypervisor plugin.
///
/// # Errors
/// [`Failure`] of the plugin, or for an operation that is not a hypervisor's.
pub fn hypervisor(
    plugin: &dyn Hypervisor,
    chosen: &Chosen,
    call: &Call,
    resume: &Resume,
) -> Result<Turn, Failure> {
    match call {
        Call::Stage(input) => plugin.stage(chosen, input, resume),
        Call::Define(input) => plugin.define(chosen, input, resume),
        Call::Alive(input) => plugin.alive(chosen, input, resume),
        _ => Err(unknown_operation("hypervisor")),
    }
}

/// Sends a call to a storage plugin.
///
/// # Errors
/// [`Failure`] of the plugin, or for an operation that is not a storage plugin's.
pub fn storage(plugin: &dyn Storage, chosen: &Chosen, call: &Call, resume: &Resume) -> Result<Turn, Failure> {
    match call {
        Call::Stage(input) => plugin.stage(chosen, input, resume),
        Call::Create(input) => plugin.create(chosen, input, resume),
        Call::Inspect(input) => plugin.inspect(chosen, input, resume),
        _ => Err(unknown_operation("storage")),
    }
}

/// Sends a call to a workload plugin.
///
/// # Errors
/// [`Failure`] of the plugin, or for an operation that is not a workload's.
pub fn workload(
    plugin: &dyn Workload,
    chosen: &Chosen,
    call: &Call,
    resume: &Resume,
) -> Result<Turn, Failure> {
    match call {
        Call::Prepare(input) => plugin.prepare(chosen, input, resume),
        Call::Work(input) => plugin.work(chosen, input, resume),
        Call::Parse(input) => finish(Vec::new(), plugin.parse(chosen, input)?),
        Call::Import(input) => finish(Vec::new(), plugin.import(chosen, input)?),
        _ => Err(unknown_operation("workload")),
    }
}

/// Sends a call to a telemetry plugin.
///
/// # Errors
/// [`Failure`] of the plugin, or for an operation that is not a telemetry plugin's.
pub fn telemetry(plugin: &dyn Telemetry, chosen: &Chosen, call: &Call, _: &Resume) -> Result<Turn, Failure> {
    match call {
        Call::Sources(input) => finish(Vec::new(), plugin.sources(chosen, input)?),
        Call::Record(input) => finish(Vec::new(), plugin.record(chosen, input)?),
        Call::Import(input) => finish(Vec::new(), plugin.import(chosen, input)?),
        _ => Err(unknown_operation("telemetry")),
    }
}

fn unknown_operation(kind: &str) -> Failure {
    Failure::new(format!("this operation is not one of a {kind} plugin"))
}

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

/// Makes a library a plugin: `plugin!(hypervisor_kvm, hypervisor, Kvm);` exports `crossvisor_plugin_v1_hypervisor_kvm`
/// for a unit type `Kvm` that implements [`Hypervisor`]. The middle word is `hypervisor`, `storage`, `workload` or `telemetry`.
#[macro_export]
macro_rules! plugin {
    ($name:ident, $kind:ident, $type:ident) => {
        #[cfg(panic = "abort")]
        compile_error!("a Crossvisor plugin needs panic = \"unwind\": a panic must not end the host");

        impl $crate::Plugin for $type {
            fn manifest() -> $crate::model::Manifest {
                $crate::plugin!(@trait $kind)(&$type)
            }
            fn offers() -> &'static [$crate::model::Name] {
                static OFFERS: ::std::sync::OnceLock<Vec<$crate::model::Name>> = ::std::sync::OnceLock::new();
                let manifest = <Self as $crate::Plugin>::manifest;
                OFFERS.get_or_init(|| manifest().offers.into_iter().map(|offer| offer.name).collect())
            }
            fn answer(
                chosen: &$crate::sdk::Chosen,
                call: &$crate::Call,
                resume: &$crate::Resume,
            ) -> Result<$crate::Turn, $crate::Failure> {
                $crate::sdk::$kind(&$type, chosen, call, resume)
            }
            $crate::plugin!(@import $kind $type);
        }

        $crate::export!($name, $type);
    };
    (@import workload $type:ident) => {
        fn import(
            chosen: &$crate::sdk::Chosen,
            input: &$crate::ImportInput,
        ) -> Result<$crate::ImportOutput, $crate::Failure> {
            $crate::Workload::import(&$type, chosen, input)
        }
    };
    (@import telemetry $type:ident) => {
        fn import(
            chosen: &$crate::sdk::Chosen,
            input: &$crate::ImportInput,
        ) -> Result<$crate::ImportOutput, $crate::Failure> {
            $crate::Telemetry::import(&$type, chosen, input)
        }
    };
    (@import $kind:ident $type:ident) => {};
    (@trait hypervisor) => { $crate::Hypervisor::manifest };
    (@trait storage) => { $crate::Storage::manifest };
    (@trait workload) => { $crate::Workload::manifest };
    (@trait telemetry) => { $crate::Telemetry::manifest };
}

/// Exports the contract's symbol for a type that is a [`Plugin`]; [`plugin!`](crate::plugin!) calls it.
#[macro_export]
macro_rules! export {
    ($name:ident, $type:ident) => {
        #[allow(unsafe_code)]
        mod exported {
            static DESCRIPTOR: ::std::sync::OnceLock<$crate::abi::Descriptor> = ::std::sync::OnceLock::new();

            /// The plugin's entry in the C contract.
            #[unsafe(export_name = concat!("crossvisor_plugin_v1_", stringify!($name)))]
            pub extern "C" fn entry() -> *const $crate::abi::Descriptor {
                $crate::sdk::descriptor::<super::$type>(&DESCRIPTOR)
            }
        }
        pub use exported::entry;
    };
}
