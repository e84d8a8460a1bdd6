//! The JSON Schemas of the contract, made from the types that both sides speak.
//!
//! Owns which types are published and under which name. It must never describe a field by hand.

use crossvisor_model::{Action, Manifest, Recording};
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};

use crate::envelope::{
    AliveOutput, CreateOutput, DefineOutput, ImportOutput, InspectOutput, Introduction, ParseOutput, Reply,
    Request, SourcesOutput, StageOutput,
};

/// Every schema by its name: what the host writes as the host writes it, what a plugin writes as the host reads it.
#[must_use]
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("introduction", written::<Introduction>()),
        ("request", written::<Request>()),
        ("manifest", read::<Manifest>()),
        ("manifest_reply", read::<Reply<Manifest>>()),
        ("reply", read::<Reply>()),
        ("action", read::<Action>()),
        ("output_stage", read::<StageOutput>()),
        ("output_define", read::<Option<DefineOutput>>()),
        ("output_alive", read::<AliveOutput>()),
        ("output_create", read::<CreateOutput>()),
        ("output_inspect", read::<InspectOutput>()),
        ("output_parse", read::<ParseOutput>()),
        ("output_import", read::<ImportOutput>()),
        ("output_sources", read::<SourcesOutput>()),
        ("output_record", read::<Recording>()),
    ]
}

fn written<T: JsonSchema>() -> Schema {
    make::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn read<T: JsonSchema>() -> Schema {
    make::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

fn make<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    settings.with_transform(PlainDescriptions).into_generator().into_root_schema_for::<T>()
}

/// Takes the marks of Rust's links out of descriptions.
#[derive(Clone)]
struct PlainDescriptions;

impl Transform for PlainDescriptions {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(text) = schema.get("description").and_then(|text| text.as_str()) {
            let plain = text.replace("[`", "`").replace("`]", "`");
            schema.insert("description".into(), plain.into());
        }
        transform_subschemas(self, schema);
    }
}
