//! Reports as `iostat -o JSON` prints them.
//!
//! Owns the form of the document. What follows a whole document is another one, or is said to be none.

use crossvisor_plugin::ImportOutput;
use crossvisor_plugin::model::Values;
use serde_json::{Map, Value};

use super::banner::{Banner, refused};
use super::columns::Column;
use super::span;

/// All results of a text that begins with a document.
pub fn import(text: &str) -> ImportOutput {
    let mut output = ImportOutput::default();
    let text = text.trim_start_matches('\u{feff}');
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut start = 0;
    while let Some(document) = documents.next() {
        let line = text[..start].matches('\n').count() + 1;
        match document {
            Ok(document) => hosts(line, &document, &mut output),
            Err(error) => {
                let reason = format!("expected iostat's JSON as a whole: {error}");
                output.refused.push(refused(error.line().max(1), reason));
                break;
            }
        }
        start = documents.byte_offset();
    }
    output
}

fn hosts(line: usize, document: &Value, output: &mut ImportOutput) {
    let hosts = document.pointer("/sysstat/hosts").and_then(Value::as_array);
    let Some(hosts) = hosts else {
        output.refused.push(refused(line, "expected iostat's JSON: it has no list sysstat.hosts"));
        return;
    };
    for host in hosts {
        let text = |key: &str| host.get(key).and_then(Value::as_str).map(String::from);
        let cpus = host.get("number-of-cpus").and_then(Value::as_u64);
        let banner = Banner { machine: text("nodename"), kernel: text("release"), cpus };
        let Some(reports) = host.get("statistics").and_then(Value::as_array) else {
            output.refused.push(refused(line, "expected iostat's JSON: a host has no list 'statistics'"));
            continue;
        };
        for (number, report) in (1..).zip(reports) {
            self::report(line, &banner, number, report, output);
        }
    }
}

fn report(line: usize, banner: &Banner, number: usize, report: &Value, output: &mut ImportOutput) {
    let span = || ("span", span(number).to_string());
    if let Some(cpu) = report.get("avg-cpu").and_then(Value::as_object) {
        let settings = [("processor", "all".to_string()), span()];
        output.results.push(banner.imported(line, settings, values(cpu)));
    }
    for disk in report.get("disk").and_then(Value::as_array).into_iter().flatten() {
        match (disk.as_object(), disk.get("disk_device").and_then(Value::as_str)) {
            (Some(columns), Some(device)) => {
                let settings = [("device", device.to_string()), span()];
                output.results.push(banner.imported(line, settings, values(columns)));
            }
            _ => {
                let reason =
                    format!("report {number}: expected a name 'disk_device' of every disk, and one has none");
                output.refused.push(refused(line, reason));
            }
        }
    }
}

fn values(columns: &Map<String, Value>) -> Values {
    let mut values = Values::default();
    for (heading, value) in columns.iter().filter(|(heading, _)| *heading != "disk_device") {
        match value {
            Value::String(text) => Column::new(heading).put(text, &mut values),
            other => Column::new(heading).put(&other.to_string(), &mut values),
        }
    }
    values
}
