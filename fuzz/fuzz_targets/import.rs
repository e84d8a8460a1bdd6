//! Files of every kind (the first byte says which) as `crossvisor import` reads them: the run directory that it makes
//! is whole, and holds every result.
#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use crossvisor_fuzz::{Folder, LINKED};
use crossvisor_import::{ImportRun, Labels, Reader};
use crossvisor_loader::{Plugin, SearchPath, load_all};
use crossvisor_model::{Name, Value};
use crossvisor_store::{RunDirectory, check};
use libfuzzer_sys::fuzz_target;

static PLUGINS: LazyLock<BTreeMap<Name, Plugin>> =
    LazyLock::new(|| load_all(&SearchPath::default(), LINKED).plugins);
static KINDS: LazyLock<Vec<Reader<'static>>> = LazyLock::new(|| {
    let offers = PLUGINS.values().flat_map(|plugin| &plugin.manifest.offers);
    let kinds = offers.filter(|offer| offer.imports);
    kinds.filter_map(|offer| Reader::of(offer.name.as_str(), PLUGINS.values())).collect()
});
static FOLDER: LazyLock<Folder> = LazyLock::new(Folder::default);

fuzz_target!(|data: &[u8]| {
    let Some((kind, content)) = data.split_first() else { return };
    let reader = &KINDS[usize::from(*kind) % KINDS.len()];
    let labels = Labels { host: None, hypervisor: "bare".parse().expect("a name"), storage: None, guests: 1 };
    let path = FOLDER.path().join("run");
    let mut run = ImportRun::create(reader, labels, &path).expect("a run directory");
    run.add("kept", content, |refused| assert!(refused.line > 0 && !refused.reason.is_empty()))
        .expect("read");
    let summary = run.finish(&"run".parse().expect("a name"), String::new()).expect("written");
    if summary.results == 0 {
        return assert!(!path.exists());
    }
    let findings = check(&path, false).expect("checked").findings;
    assert_eq!(findings, []);
    let record = RunDirectory::read(&path).expect("a run");
    assert_eq!((record.plan.cells.len(), record.outcomes.len()), (summary.cells, summary.results));
    for sample in &record.samples {
        assert!(record.plan.cells.iter().any(|cell| cell.id == sample.cell), "{sample:?}");
        assert!(!matches!(sample.value, Value::Measured(value) if !value.is_finite()), "{sample:?}");
    }
    fs::remove_dir_all(&path).expect("removed");
});
