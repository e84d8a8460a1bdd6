//! The contract between Crossvisor and its plugins, seen from both sides.
//!
//! Owns the C descriptor ([`abi`]), the JSON envelope ([`envelope`]) and its [`limits`], the SDK for plugins written
//! in Rust ([`sdk`], [`plugin!`]), the JSON Schemas (feature `schema`), the test kit (feature `testkit`), what
//! telemetry has in common: lines of times ([`stamps`]) and recordings ([`recorder`]), and what hypervisors have: sets of
//! CPUs ([`cpus`]) and domain XML (feature `domain-xml`). It must never load a library, and a plugin written with it must
//! never do I/O.

#![allow(unsafe_code)]

pub mod abi;
pub mod cpus;
#[cfg(feature = "domain-xml")]
pub mod domain_xml;
pub mod envelope;
pub mod limits;
pub mod recorder;
#[cfg(feature = "schema")]
pub mod schema;
pub mod sdk;
pub mod stamps;
#[cfg(feature = "testkit")]
pub mod testkit;
#[cfg(feature = "testkit")]
pub mod transcript;

pub use crossvisor_model as model;
pub use envelope::{
    AliveInput, AliveOutput, Call, CreateInput, CreateOutput, DefineInput, DefineOutput, Failure,
    ImportInput, ImportOutput, Imported, InspectInput, InspectOutput, Instance, Left, ParseInput,
    ParseOutput, ParsedSample, Peer, RecordInput, Refused, Reply, Request, Source, SourcesInput,
    SourcesOutput, StageInput, StageOutput, Turn, WorkInput,
};
pub use sdk::{Hypervisor, Plugin, Resume, Storage, Telemetry, Workload, finish};
