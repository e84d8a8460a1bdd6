//! What the contract refuses, before and after a plugin is called.

mod common;

use common::{compile, request};
use crossvisor_loader::{Broken, LoadError, Plugin, PluginError, SearchPath, load_all};

/// Loads the plugin `storage-x` made with these faults.
fn load(faults: &[&str]) -> Result<Plugin, Broken> {
    let folder = tempfile::tempdir().expect("folder");
    compile(folder.path(), "storage-x", faults);
    let search = SearchPath { bundled: Some(folder.path().into()), ..SearchPath::default() };
    let mut loaded = load_all(&search, &[]);
    match loaded.problems.pop() {
        None => Ok(loaded.plugins.remove("storage-x").expect("plugin")),
        Some(LoadError::Broken { reason, .. }) => Err(reason),
        Some(other) => panic!("{other}"),
    }
}

fn call(faults: &[&str]) -> PluginError {
    load(faults).expect("loads").call(&request("storage-x")).expect_err("a broken reply")
}

#[test]
fn a_good_plugin_answers_also_from_many_threads_and_after_its_file_is_gone() {
    let plugin = load(&[]).expect("loads");
    assert_eq!(plugin.manifest.version, "1.2");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let turn = plugin.call(&request("storage-x")).expect("turn");
                assert_eq!(turn.output["answer"], 42);
                assert!(turn.done);
            });
        }
    });
}

#[test]
fn a_library_that_does_not_keep_the_contract_is_not_loaded() {
    assert!(
        matches!(load(&["ENTRY=other"]), Err(Broken::Symbol(s)) if s == "crossvisor_plugin_v1_storage_x")
    );
    assert!(matches!(load(&["NO_DESCRIPTOR"]), Err(Broken::NoDescriptor)));
    assert!(matches!(load(&["MAGIC=7"]), Err(Broken::Magic(7))));
    assert!(matches!(load(&["ABI=2"]), Err(Broken::Abi(2))));
    assert!(matches!(load(&["SIZE=16"]), Err(Broken::StructSize(16))));
    assert!(matches!(load(&["CALL=NULL"]), Err(Broken::NoCall)));
    assert!(matches!(load(&["MANIFEST=\"{}\""]), Err(Broken::Manifest(why)) if why.contains("name")));
    assert!(matches!(load(&["NAME=\"storage-y\""]), Err(Broken::OtherName(n)) if n.as_str() == "storage-y"));
}

#[test]
fn an_error_names_the_file_and_the_reason() {
    let folder = tempfile::tempdir().expect("folder");
    let file = compile(folder.path(), "storage-x", &["ABI=9"]);
    let search = SearchPath { bundled: Some(folder.path().into()), ..SearchPath::default() };
    let text = load_all(&search, &[]).problems[0].to_string();
    assert!(
        text.contains(&*file.to_string_lossy()) && text.contains("version 9 of the plugin contract"),
        "{text}"
    );
}

#[test]
fn a_reply_that_is_not_one_is_an_error_that_names_the_plugin() {
    assert!(
        matches!(call(&["REPLY=\"hello\""]), PluginError::Garbage { plugin, .. } if plugin.as_str() == "storage-x")
    );
    assert!(matches!(call(&["REPLY=\"\""]), PluginError::Garbage { .. }));
    assert!(matches!(
        call(&[r#"REPLY="{\"v\":2,\"ok\":{\"done\":true}}""#]),
        PluginError::Garbage { reason, .. } if reason.contains("version is 2")
    ));
    assert!(matches!(call(&["CODE=1"]), PluginError::Internal { code: 1, .. }));
    assert!(matches!(call(&["CODE=-3"]), PluginError::Internal { code: -3, .. }));
}

#[test]
fn a_refusal_carries_the_plugins_own_words() {
    let refusal = r#"REPLY="{\"v\":1,\"error\":{\"message\":\"no room\",\"left\":\"nothing\"}}""#;
    assert_eq!(call(&[refusal]).to_string(), "plugin 'storage-x': no room");
}

#[test]
fn a_reply_beyond_the_limit_is_refused_also_when_the_plugin_ignores_the_sink() {
    assert!(matches!(call(&["HUGE_MIB=17"]), PluginError::TooLong { .. }));
    assert!(matches!(call(&["HUGE_MIB=16"]), PluginError::Garbage { .. }));
}
