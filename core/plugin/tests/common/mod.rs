//! The checked-in schemas, compiled, and where the tree is.

#![allow(dead_code)] // each test uses a part of it

pub mod page;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crossvisor_plugin::{Request, schema};
use jsonschema::Validator;
use serde_json::Value;

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The schemas by name.
pub struct Schemas(BTreeMap<&'static str, Validator>);

impl Schemas {
    pub fn new() -> Self {
        let compile = |(name, schema): (&'static str, schemars::Schema)| {
            (name, jsonschema::validator_for(schema.as_value()).unwrap_or_else(|e| panic!("{name}: {e}")))
        };
        Self(schema::all().into_iter().map(compile).collect())
    }

    pub fn accepts(&self, name: &str, value: &Value) -> bool {
        self.get(name).is_valid(value)
    }

    /// Asserts that a value is valid.
    pub fn check(&self, name: &str, value: &Value) {
        let faults: Vec<_> =
            self.get(name).iter_errors(value).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(faults.is_empty(), "{name}: {faults:?} in {value:#}");
    }

    /// Asserts that a request, in the form the host writes it, its reply and its output are valid.
    pub fn exchange(&self, request: &Value, reply: &Value) {
        let request: Request = serde_json::from_value(request.clone()).expect("request");
        let request = serde_json::to_value(request).expect("JSON");
        self.check("request", &request);
        self.check("reply", reply);
        let output = format!("output_{}", request["op"].as_str().unwrap_or_default());
        if reply.pointer("/ok/done") == Some(&Value::Bool(true)) && self.0.contains_key(&*output) {
            self.check(&output, &reply["ok"]["output"]);
        }
    }

    fn get(&self, name: &str) -> &Validator {
        self.0.get(name).unwrap_or_else(|| panic!("no schema is called {name}"))
    }
}
