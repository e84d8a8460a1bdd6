//! Replies of plugins, to each operation; a recorded transcript stands for its first reply.
#![no_main]

use crossvisor_fuzz::read_back;
use crossvisor_model::Manifest;
use crossvisor_plugin::envelope::{Answer, Reply};
use crossvisor_plugin::{
    AliveOutput, CreateOutput, DefineOutput, ImportOutput, InspectOutput, ParseOutput, SourcesOutput,
    StageOutput,
};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

fn output<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &Value) {
    if let Ok(output) = T::deserialize(value) {
        read_back(&output);
    }
}

fuzz_target!(|data: &[u8]| {
    let transcript: Option<Value> = serde_json::from_slice(data).ok();
    let inside = transcript.and_then(|mut transcript| Some(transcript.get_mut("reply")?.take().to_string()));
    let reply = inside.as_deref().map_or(data, str::as_bytes);
    if let Ok(reply) = serde_json::from_slice::<Reply<Manifest>>(reply) {
        read_back(&reply);
    }
    let Ok(reply) = serde_json::from_slice::<Reply>(reply) else { return };
    read_back(&reply);
    if let Answer::Ok(turn) = &reply.answer {
        output::<StageOutput>(&turn.output);
        output::<DefineOutput>(&turn.output);
        output::<AliveOutput>(&turn.output);
        output::<CreateOutput>(&turn.output);
        output::<InspectOutput>(&turn.output);
        output::<ParseOutput>(&turn.output);
        output::<ImportOutput>(&turn.output);
        output::<SourcesOutput>(&turn.output);
        output::<crossvisor_model::Recording>(&turn.output);
    }
});
