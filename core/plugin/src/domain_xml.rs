//! What the domain XML of every hypervisor has in common: <https://libvirt.org/formatdomain.html>.
//!
//! Owns the writer and the head of a domain: name, UUID, tag, memory. It must never leave a value unescaped, and never
//! know a hypervisor.

use std::io::{Cursor, Error};

use crossvisor_model::DomainSpec;
use crossvisor_model::domain::TAG_NAMESPACE;
use quick_xml::Writer;
use quick_xml::events::BytesText;

use crate::Failure;

/// XML that is being written.
pub type Xml = Writer<Cursor<Vec<u8>>>;

/// A domain with these attributes: its head, then what `rest` writes.
///
/// # Errors
/// [`Failure`] when `rest` fails, or writes what is not UTF-8.
pub fn domain(
    attributes: &[(&str, &str)],
    spec: &DomainSpec,
    rest: impl FnOnce(&mut Xml) -> Result<(), Error>,
) -> Result<String, Failure> {
    let failure = |error: &dyn std::fmt::Display| Failure::new(format!("domain XML: {error}"));
    let mut xml = Writer::new_with_indent(Cursor::new(Vec::new()), b' ', 2);
    parent(&mut xml, "domain", attributes, |xml| {
        text(xml, "name", &[], spec.name.as_str())?;
        text(xml, "uuid", &[], &spec.uuid)?;
        parent(xml, "metadata", &[], |xml| {
            let tag = [("xmlns:crossvisor", TAG_NAMESPACE), ("run", spec.run.as_str())];
            empty(xml, "crossvisor:domain", &tag)
        })?;
        text(xml, "memory", &[("unit", "MiB")], &spec.memory_mib.to_string())?;
        rest(xml)
    })
    .map_err(|e| failure(&e))?;
    String::from_utf8(xml.into_inner().into_inner()).map_err(|e| failure(&e))
}

/// An element with elements in it.
///
/// # Errors
/// That of `inside`.
pub fn parent(
    xml: &mut Xml,
    element: &str,
    attributes: &[(&str, &str)],
    inside: impl FnOnce(&mut Xml) -> Result<(), Error>,
) -> Result<(), Error> {
    let element = xml.create_element(element).with_attributes(attributes.iter().copied());
    element.write_inner_content(inside).map(drop)
}

/// An element with text in it.
///
/// # Errors
/// None in practice: it is written to memory.
pub fn text(xml: &mut Xml, element: &str, attributes: &[(&str, &str)], content: &str) -> Result<(), Error> {
    let element = xml.create_element(element).with_attributes(attributes.iter().copied());
    element.write_text_content(BytesText::new(content)).map(drop)
}

/// An element with nothing in it.
///
/// # Errors
/// None in practice: it is written to memory.
pub fn empty(xml: &mut Xml, element: &str, attributes: &[(&str, &str)]) -> Result<(), Error> {
    xml.create_element(element).with_attributes(attributes.iter().copied()).write_empty().map(drop)
}
