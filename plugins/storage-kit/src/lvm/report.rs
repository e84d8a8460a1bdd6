//! LVM's reports in JSON: every value is a text, and one that does not apply is empty.

use crossvisor_plugin::Failure;
use serde_json::Value;

/// What LVM tells of one logical volume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LvReport {
    /// The ten letters of `lvs`.
    pub attributes: String,
    /// Bytes; of a snapshot, those of its exception store.
    pub size: u64,
    /// Bytes of what it is a snapshot of.
    pub origin_size: Option<u64>,
    /// Percent of the store, the thin volume or the pool that is in use.
    pub data_percent: Option<f64>,
    /// Percent of a pool's metadata that is in use.
    pub metadata_percent: Option<f64>,
}

impl LvReport {
    /// The fields, as `lvs` is asked for them.
    pub(super) const FIELDS: &str = "lv_attr,lv_size,origin_size,data_percent,metadata_percent";

    /// Bytes in use, as its percentage tells.
    #[must_use]
    pub fn used(&self) -> Option<u64> {
        let percent = self.data_percent.filter(|percent| (0.0..=100.0).contains(percent))?;
        // Below 2^53 bytes a double is exact, and the percentage has two decimal places.
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some((self.size as f64 * percent / 100.0).round() as u64)
    }

    /// One of the ten letters, from 0.
    #[must_use]
    pub fn letter(&self, index: usize) -> char {
        self.attributes.chars().nth(index).unwrap_or('-')
    }

    /// The logical volume that a report is about. `None` where it is not there.
    ///
    /// # Errors
    /// [`Failure`] where it is not one.
    pub fn read(report: &str) -> Result<Option<Self>, Failure> {
        let row = |row: &Value| {
            Some(Self {
                attributes: text(row, "lv_attr")?.into(),
                size: text(row, "lv_size")?.parse().ok()?,
                origin_size: number(row, "origin_size"),
                data_percent: number(row, "data_percent"),
                metadata_percent: number(row, "metadata_percent"),
            })
        };
        Ok(rows(report, "lv", row)?.into_iter().next())
    }
}

/// The rows of a report's section.
pub(super) fn rows<T>(
    report: &str,
    section: &str,
    row: impl Fn(&Value) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let value: Value = serde_json::from_str(report).unwrap_or_default();
    let found = value.pointer(&format!("/report/0/{section}")).and_then(Value::as_array);
    let read = found.and_then(|found| found.iter().map(row).collect());
    read.ok_or_else(|| Failure::new(format!("cannot read LVM's report: {report:?}")))
}

pub(super) fn text<'a>(row: &'a Value, field: &str) -> Option<&'a str> {
    row[field].as_str()
}

/// A number; LVM writes a decimal comma where the host's locale has one.
pub(super) fn number<T: std::str::FromStr>(row: &Value, field: &str) -> Option<T> {
    text(row, field)?.replace(',', ".").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lv(size: &str, percent: &str) -> String {
        let row = format!(r#"{{"lv_attr": "swi-a-s---", "lv_size": "{size}", "data_percent": "{percent}"}}"#);
        format!(r#"{{"report": [{{"lv": [{row}]}}]}}"#)
    }

    #[test]
    fn bytes_in_use_are_a_share_of_the_size() {
        for (percent, used) in [
            ("0.00", Some(0)),
            ("94.50", Some(945)),
            ("94,50", Some(945)),
            ("100.00", Some(1000)),
            ("", None),
            ("-1", None),
        ] {
            let found = LvReport::read(&lv("1000", percent)).expect("report");
            assert_eq!(found.and_then(|lv| lv.used()), used, "{percent}");
        }
    }

    #[test]
    fn what_is_no_report_is_refused() {
        for text in ["", "{}", "[]", r#"{"report": []}"#, r#"{"report": [{"vg": []}]}"#, &lv("much", "1.00")]
        {
            assert!(LvReport::read(text).is_err(), "{text}");
        }
    }
}
