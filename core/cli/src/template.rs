//! The project of a new plugin: which files it has, and what is filled in.
//!
//! Owns the templates below `templates/`. It must never write a file.

use std::path::Path;

use crossvisor_model::{Name, NameError};
use crossvisor_plugin::abi::{file_name, symbol, HEADER};

use crate::arguments::{Language, PluginKind};

/// One file of a project.
#[derive(Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Relative to the project's folder.
    pub path: String,
    pub text: String,
    pub executable: bool,
}

/// A project: its plugin, its files, and what its author does with them.
#[derive(Debug)]
pub struct Project {
    pub name: Name,
    pub files: Vec<ProjectFile>,
    /// The one command that builds it; `None` where nothing is to be built.
    pub build: Option<&'static str>,
    /// The plugin's file after that, relative to the project's folder.
    pub plugin: String,
}

macro_rules! template {
    ($path:literal) => {
        include_str!(concat!("../templates/", $path))
    };
}

/// The project of a plugin; `sdk` is the folder of the Rust SDK, where it is not to come from crates.io.
///
/// # Errors
/// [`NameError`] when the name with the kind before it is not one.
pub fn project(
    language: Language,
    kind: PluginKind,
    name: &Name,
    sdk: Option<&Path>,
) -> Result<Project, NameError> {
    let (word, scenario) = match kind {
        PluginKind::Hypervisor => ("hypervisor", template!("common/scenario-hypervisor.yaml")),
        PluginKind::Storage => ("storage", template!("common/scenario-storage.yaml")),
        PluginKind::Workload => ("workload", template!("common/scenario-workload.yaml")),
    };
    let offer = name.as_str().strip_prefix(word).and_then(|rest| rest.strip_prefix('-'));
    let offer = Name::new(offer.unwrap_or(name.as_str()))?;
    let name = Name::new(format!("{word}-{offer}"))?;
    let library = file_name(name.as_str());
    let (build, plugin) = match language {
        Language::C => (Some("make"), library),
        Language::Rust => (Some("cargo build --release"), format!("target/release/{library}")),
        Language::Python => (None, format!("crossvisor-plugin-{name}")),
    };
    let folder = plugin.rsplit_once('/').map_or("$PWD".to_string(), |(folder, _)| format!("$PWD/{folder}"));
    let built = build.map_or("# nothing to build", |command| command);
    let values = [
        ("@name@", name.to_string()),
        ("@offer@", offer.to_string()),
        ("@stem@", symbol(name.as_str()).replacen("crossvisor_plugin_v1_", "", 1)),
        ("@kind@", word.into()),
        ("@sdk@", dependency(sdk)),
        ("@build@", built.into()),
        ("@plugin@", plugin.clone()),
        ("@folder@", folder),
    ];
    let fill =
        |text: &str| values.iter().fold(text.to_string(), |text, (key, value)| text.replace(key, value));
    let sources = match language {
        Language::C => c(kind),
        Language::Rust => rust(kind),
        Language::Python => vec![(plugin.clone(), python(kind))],
    };
    let common = [
        ("README.md".to_string(), template!("common/README.md").to_string()),
        ("scenario.yaml".to_string(), scenario.to_string()),
    ];
    let executable = |path: &str| language == Language::Python && path == plugin;
    let files = sources.into_iter().chain(common).map(|(path, text)| ProjectFile {
        text: fill(&text),
        executable: executable(&path),
        path,
    });
    let files = files.collect();
    Ok(Project { name, files, build, plugin })
}

fn c(kind: PluginKind) -> Vec<(String, String)> {
    let plugin = match kind {
        PluginKind::Hypervisor => template!("c/hypervisor.c"),
        PluginKind::Storage => template!("c/storage.c"),
        PluginKind::Workload => template!("c/workload.c"),
    };
    let files = [
        ("Makefile", template!("c/Makefile")),
        ("plugin.c", plugin),
        ("envelope.c", template!("c/envelope.c")),
        ("envelope.h", template!("c/envelope.h")),
        ("crossvisor_plugin.h", HEADER),
        (".gitignore", "*.so\n"),
    ];
    files.map(|(path, text)| (path.into(), text.into())).into()
}

fn rust(kind: PluginKind) -> Vec<(String, String)> {
    let library = match kind {
        PluginKind::Hypervisor => template!("rust/hypervisor.rs"),
        PluginKind::Storage => template!("rust/storage.rs"),
        PluginKind::Workload => template!("rust/workload.rs"),
    };
    let files = [
        ("Cargo.toml", template!("rust/Cargo.toml.in")),
        ("src/lib.rs", library),
        (".gitignore", "/target\n"),
    ];
    files.map(|(path, text)| (path.into(), text.into())).into()
}

/// One file: a script is loaded alone.
fn python(kind: PluginKind) -> String {
    let plugin = match kind {
        PluginKind::Hypervisor => template!("python/hypervisor.py"),
        PluginKind::Storage => template!("python/storage.py"),
        PluginKind::Workload => template!("python/workload.py"),
    };
    [template!("python/envelope.py"), plugin, template!("python/tail.py")].concat()
}

/// The SDK as a dependency in TOML.
fn dependency(sdk: Option<&Path>) -> String {
    match sdk {
        Some(folder) => format!("{{ path = {:?} }}", folder.to_string_lossy()),
        None => format!("{:?}", env!("CARGO_PKG_VERSION")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [Language; 3] = [Language::C, Language::Rust, Language::Python];
    const KINDS: [PluginKind; 3] = [PluginKind::Hypervisor, PluginKind::Storage, PluginKind::Workload];

    fn name(text: &str) -> Name {
        Name::new(text).expect(text)
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for (language, kind) in LANGUAGES.into_iter().flat_map(|l| KINDS.map(|k| (l, k))) {
            let project = project(language, kind, &name("a.b-c"), Some(Path::new("/sdk"))).expect("project");
            for ProjectFile { path, text, .. } in &project.files {
                let rest = text.split('@').nth(1).filter(|word| word.chars().all(|c| c.is_ascii_lowercase()));
                assert!(rest.is_none() || path == "Makefile", "{path}: {text}");
            }
            assert!(project.files.iter().any(|file| file.text.contains("a.b-c")));
        }
    }

    #[test]
    fn the_kind_goes_before_the_name_once() {
        for given in ["mine", "storage-mine"] {
            let project = project(Language::C, PluginKind::Storage, &name(given), None).expect("project");
            assert_eq!(project.name.as_str(), "storage-mine");
            assert_eq!(project.plugin, "libcrossvisor_storage_mine.so");
        }
        assert!(project(Language::C, PluginKind::Storage, &name(&"x".repeat(48)), None).is_err());
    }

    #[test]
    fn only_the_script_is_executable_and_the_sdk_is_a_folder_or_a_version() {
        let script = project(Language::Python, PluginKind::Workload, &name("x"), None).expect("project");
        let executable: Vec<_> = script.files.iter().filter(|f| f.executable).map(|f| &f.path).collect();
        assert_eq!(executable, ["crossvisor-plugin-workload-x"]);
        assert_eq!(dependency(Some(Path::new("/a b"))), "{ path = \"/a b\" }");
        assert_eq!(dependency(None), format!("\"{}\"", env!("CARGO_PKG_VERSION")));
    }
}
