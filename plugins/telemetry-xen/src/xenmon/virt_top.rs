//! The CSV of virt-top: columns of the host, then the same columns again for each domain.
//!
//! Owns their meaning. The header names the columns of one domain only, and the one called `Mem (bytes)` is in KiB.

use crossvisor_plugin::model::Values;
use crossvisor_plugin::{ImportOutput, Refused};

use super::{imported, put, take_back};
use crate::words;

/// Seconds of a nanosecond.
const NS: f64 = 1e-9;
/// The first column of a domain.
const DOMAIN: &str = "Domain ID";
const EARLY: &str = "the first row of virt-top is before its first interval";

/// Of the host: heading, metric, factor.
const HOST: [(&str, &str, f64); 4] = [
    ("%CPU", "cpu share", 1.0),
    ("Total CPU time (ns)", "cpu used", NS),
    ("Total hardware memory (KB)", "host memory", 1.0),
    ("Total guest memory (KB)", "memory", 1.0),
];
/// Of each domain.
const EACH: [(&str, &str, f64); 8] = [
    ("CPU (ns)", "cpu used", NS),
    ("%CPU", "cpu share", 1.0),
    ("Mem (bytes)", "memory", 1.0),
    ("%Mem", "memory share", 1.0),
    ("Block RDRQ", "vbd reads in span", 1.0),
    ("Block WRRQ", "vbd writes in span", 1.0),
    ("Net RXBY", "net received in span", 1.0),
    ("Net TXBY", "net sent in span", 1.0),
];
/// What has no value before the first interval.
const RATES: [&str; 7] = [
    "cpu used",
    "cpu share",
    "memory share",
    "vbd reads in span",
    "vbd writes in span",
    "net received in span",
    "net sent in span",
];

struct Header {
    host: Vec<String>,
    domain: Vec<String>,
}

pub fn import(text: &str, output: &mut ImportOutput) {
    let mut header: Option<(Header, bool)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let fields = fields(line);
        if let Some(new) = Header::read(&fields) {
            let first = header.is_none();
            header = Some((new, first));
        } else if let Some((header, first)) = header.as_mut().filter(|_| fields.len() > 1) {
            match header.row(number, &fields, *first) {
                Ok(results) => output.results.extend(results),
                Err(reason) => output.refused.push(Refused { line: number, reason }),
            }
            *first = false;
        }
    }
}

/// The fields of a line; quotes as in RFC 4180.
fn fields(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.trim().as_bytes());
    let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|field| field.trim().to_string()).collect()
}

impl Header {
    fn read(fields: &[String]) -> Option<Self> {
        let at = fields.iter().position(|field| field == DOMAIN)?;
        let is_header = fields.first().is_some_and(|field| field == "Hostname");
        is_header.then(|| Self { host: fields[..at].to_vec(), domain: fields[at..].to_vec() })
    }

    fn row(
        &self,
        line: usize,
        fields: &[String],
        first: bool,
    ) -> Result<Vec<crossvisor_plugin::Imported>, String> {
        let (own, each) = (self.host.len(), self.domain.len());
        let domains = fields.len().checked_sub(own).filter(|rest| rest % each == 0);
        if domains.is_none() {
            let found = fields.len();
            return Err(format!("virt-top: expected {own} fields and {each} for each domain, found {found}"));
        }
        let (host, domains) = fields.split_at(own);
        let text = |heading: &str| self.of(&self.host, host, heading).unwrap_or_default();
        let early = first && domains.chunks(each).all(|domain| self.is_zero(domain));
        let cpus = || ("host cpus", text("Physical CPUs"));
        let mut all = values(&self.host, host, &HOST);
        if early {
            ["cpu used", "cpu share"].iter().for_each(|metric| take_back(&mut all, metric, EARLY));
        }
        let mut results = vec![imported(line, &[("domain", "all".to_string()), cpus()], all)];
        for domain in domains.chunks(each) {
            let mut values = values(&self.domain, domain, &EACH);
            if early {
                RATES.iter().chain(&["memory"]).for_each(|metric| take_back(&mut values, metric, EARLY));
            }
            let own = |heading: &str| self.of(&self.domain, domain, heading).unwrap_or_default();
            let settings = [("domain", own("Domain name")), ("id", own(DOMAIN)), cpus()];
            results.push(imported(line, &settings, values));
        }
        for result in &mut results {
            result.machine = Some(text("Hostname")).filter(|name| !name.is_empty());
        }
        Ok(results)
    }

    fn of(&self, headings: &[String], fields: &[String], heading: &str) -> Option<String> {
        let at = headings.iter().position(|known| known == heading)?;
        fields.get(at).cloned()
    }

    fn is_zero(&self, domain: &[String]) -> bool {
        ["CPU (ns)", "Mem (bytes)"].iter().all(|heading| {
            self.of(&self.domain, domain, heading)
                .is_none_or(|word| words::number(&word).unwrap_or_default() == 0.0)
        })
    }
}

fn values(headings: &[String], fields: &[String], known: &[(&str, &str, f64)]) -> Values {
    let mut values = Values::default();
    for (heading, field) in headings.iter().zip(fields) {
        if let Some((_, metric, factor)) = known.iter().find(|(name, ..)| name == heading) {
            put(&mut values, metric, *factor, field);
        }
    }
    values
}
