//! All jobs of a text, whichever form of output it holds.
//!
//! Owns which form counts where several are mixed: JSON before terse lines before the report for people, which repeats
//! them. It must never count a job twice.

use std::collections::BTreeMap;

use crate::document::{Document, documents};
use crate::job::Job;
use crate::{json, report, said, terse};

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    pub jobs: Vec<Job>,
    /// Lines that look like fio's output and are no result, with the reason.
    pub refused: Vec<(usize, String)>,
    /// Documents that a later one of the same run stands for.
    pub superseded: usize,
}

/// Reads a text of any form.
#[must_use]
pub fn read(text: &str) -> Reading {
    let (documents, broken) = documents(text);
    let mut reading = Reading { refused: broken, ..Reading::default() };
    let mut jobs = Vec::new();
    let mut after = 0;
    let said = said::complaint(text);
    let signals: BTreeMap<usize, String> =
        text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, said::signal(line)?))).collect();
    for (index, document) in documents.iter().enumerate() {
        let signal = signals.range(after..document.line).next().map(|(_, signal)| signal);
        after = document.line;
        if documents.get(index + 1).is_some_and(|next| continues(document, next)) {
            reading.superseded += 1;
            continue;
        }
        let found = json::jobs(document);
        if found.is_empty() {
            let said = said.as_ref().map(|said| format!("; fio said: {said}")).unwrap_or_default();
            reading.refused.push((document.line, format!("expected jobs in the document, found none{said}")));
        }
        jobs.extend(found.into_iter().map(|job| Job { interrupted: signal.cloned(), ..job }));
    }
    for other in [terse::jobs, report::jobs] {
        if jobs.is_empty() && reading.refused.is_empty() {
            (jobs, reading.refused) = other(text);
        }
    }
    for job in jobs {
        match job.checked(said.as_deref()) {
            Ok(job) => reading.jobs.push(job),
            Err(refused) => reading.refused.push(refused),
        }
    }
    reading.refused.sort();
    reading
}

/// Whether `next` tells of the same run as `document`, at a later moment (`--status-interval`): the same jobs, and it
/// began when `document` began rather than when that was printed.
fn continues(document: &Document, next: &Document) -> bool {
    let names = |document: &Document| {
        let jobs = document.value["jobs"].as_array().cloned().unwrap_or_default();
        jobs.into_iter().map(|job| job["jobname"].clone()).collect::<Vec<_>>()
    };
    let same_run = json::span_ms(document).zip(json::span_ms(next)).is_some_and(|(first, second)| {
        let ((printed, began), (printed_next, began_next)) = (first, second);
        printed < printed_next && (began_next - began).abs() < (began_next - printed).abs()
    });
    same_run && names(document) == names(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document of a run that began at `began` and had gone on until `printed`, in milliseconds.
    fn document(began: u64, printed: u64) -> String {
        let ran = printed - began;
        format!(
            "{{\n\"fio version\": \"fio-3.36\", \"timestamp_ms\": {printed}, \"jobs\": [{{\"jobname\": \"a\", \
             \"job_runtime\": {ran}, \"read\": {{\"io_bytes\": 4096, \"bw\": 4, \"iops\": 1.0, \"runtime\": {ran}}}}}]\n}}\n"
        )
    }

    fn runtimes(text: &str) -> Vec<f64> {
        let reading = read(text);
        assert_eq!(reading.refused, []);
        reading.jobs.iter().flat_map(|job| job.directions[0].as_ref()?.runtime_ms).collect()
    }

    #[test]
    fn states_of_one_run_are_one_result() {
        let states = [document(5_000, 6_000), document(5_010, 7_010), document(4_900, 8_000)].concat();
        assert_eq!(runtimes(&states), [3_100.0]);
        let runs = [document(5_000, 5_100), document(5_101, 5_200), document(5_200, 9_200)].concat();
        assert_eq!(runtimes(&runs), [100.0, 99.0, 4_000.0]);
    }

    #[test]
    fn a_signal_belongs_to_the_document_after_it() {
        let text = format!("{}\nfio: terminating on signal 2\n{}", document(0, 9), document(10, 19));
        let interrupted: Vec<_> = read(&text).jobs.into_iter().map(|job| job.interrupted).collect();
        assert_eq!(interrupted, [None, Some("2".into())]);
    }

    #[test]
    fn a_job_that_failed_or_did_nothing_is_no_result() {
        let failed = document(0, 9).replace("\"jobname\"", "\"error\": 28, \"jobname\"");
        let text = format!("fio: pid=1, err=28, error=No space left on device\n{failed}");
        let reading = read(&text);
        assert!(reading.jobs.is_empty());
        assert_eq!(reading.refused[0].0, 2);
        assert!(reading.refused[0].1.ends_with("fio said: pid=1, err=28, error=No space left on device"));
        let idle = document(0, 9).replace("4096", "0").replace("\"bw\": 4", "\"bw\": 0");
        assert!(read(&idle).refused[0].1.contains("found nothing"));
    }
}
