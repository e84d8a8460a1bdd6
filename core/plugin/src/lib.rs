//! The contract between Crossvisor and its plugins, seen from both sides.
//!
//! Owns the C descriptor ([`abi`]), the JSON envelope ([`envelope`]) and the SDK for plugins written in
//! Rust ([`sdk`], [`plugin!`]). It must never load a library, and a plugin written with it must never do I/O.

#![allow(unsafe_code)]

pub mod abi;
pub mod envelope;
pub mod sdk;

pub use crossvisor_model as model;
pub use envelope::{
    AliveInput, AliveOutput, Call, CreateInput, CreateOutput, DefineInput, Failure, InspectInput,
    InspectOutput, Instance, Left, ParseInput, ParseOutput, ParsedSample, Peer, Reply, Request, Turn,
    WorkInput,
};
pub use sdk::{Hypervisor, Plugin, Resume, Storage, Workload, finish};
