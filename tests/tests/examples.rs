//! Plugins of third parties: the examples, projects that `plugin new` writes, a binary of this contract's first
//! version, and the collection of bad ones, all through the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crossvisor_tests::examples::{EXAMPLES, build, cargo, must, private_folder};
use crossvisor_tests::{BUNDLED, Lab, program_folder, root};

/// The program with a state and a list of consents of its own, and a folder for plugins.
struct Shop {
    lab: Lab,
    folder: tempfile::TempDir,
}

impl Shop {
    fn new() -> Self {
        Self { lab: Lab::new(), folder: private_folder() }
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn crossvisor(&self) -> Command {
        let mut command = self.lab.crossvisor();
        command.env("CROSSVISOR_TRUST", self.folder().join("trusted.json"));
        command
    }

    fn check(&self, file: &Path, deadline: &str) -> Output {
        self.crossvisor().args(["plugin", "check", "--deadline", deadline]).arg(file).output().expect("check")
    }

    fn must_pass(&self, file: &Path) {
        let output = self.check(file, "60s");
        assert_eq!(output.status.code(), Some(0), "{}: {}", file.display(), text(&output));
        assert!(!text(&output).contains("warning"), "{}: {}", file.display(), text(&output));
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_bundled_plugins_pass_their_check_as_anybodys_do() {
    let shop = Shop::new();
    for name in BUNDLED {
        let library = format!("libcrossvisor_{}.so", name.replace('-', "_"));
        let file = shop.folder().join(&library);
        fs::copy(program_folder().join(library), &file).expect("copy");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("mode");
        shop.must_pass(&file);
        let golden = root().join("plugins").join(name).join("tests");
        if golden.join("golden").is_dir() {
            let replay =
                shop.crossvisor().args(["plugin", "check", "--transcripts"]).arg(golden).arg(&file).output();
            let said = text(&replay.expect("check"));
            assert!(said.starts_with("ok       transcripts"), "{name}: {said}");
        }
    }
}

const SCENARIO: &str = "
name: outside
guest: {image: debian-12, memory: 256MiB}
matrix: {hypervisor: [qemu-plain], storage: [preallocated], guests: [1], workload: [compress]}
workloads: {compress: {size: 8MiB, level: 1}}
";

#[test]
fn the_examples_pass_their_check_and_are_planned_together_once_they_are_trusted() {
    let shop = Shop::new();
    let files = build(shop.folder());
    for file in &files {
        shop.must_pass(file);
    }
    let scenario = shop.lab.scenario("outside", SCENARIO);
    let plan = || {
        let mut command = shop.crossvisor();
        command.env("CROSSVISOR_PLUGIN_PATH", shop.folder()).arg("plan").arg(&scenario);
        command.output().expect("plan")
    };
    let refused = plan();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("crossvisor plugin trust"), "{}", text(&refused));

    must(shop.crossvisor().args(["plugin", "trust"]).args(&files));
    let planned = plan();
    let said = text(&planned);
    assert_eq!(planned.status.code(), Some(0), "{said}");
    for part in [
        "fallocate --length",
        "gzip",
        "qemu-system-x86_64",
        "pkill",
        "here/qemu-plain/preallocated/1/compress",
    ] {
        assert!(said.contains(part), "no '{part}' in {said}");
    }
    let mut list = shop.crossvisor();
    let listed = must(list.env("CROSSVISOR_PLUGIN_PATH", shop.folder()).args(["plugin", "list", "--all"]));
    for name in EXAMPLES {
        assert!(listed.lines().any(|l| l.starts_with("loaded") && l.contains(name)), "{name}: {listed}");
    }
}

/// Writes a project, builds it as its README says, and returns the plugin's file.
fn project(shop: &Shop, language: &str, kind: &str) -> PathBuf {
    let project = shop.folder().join(format!("{language}-{kind}"));
    let mut new = shop.crossvisor();
    new.args(["plugin", "new", "--lang", language, "--kind", kind, "fresh", "--dir"]).arg(&project);
    must(new.arg("--sdk").arg(root().join("core/plugin")));
    let library = format!("libcrossvisor_{kind}_fresh.so");
    match language {
        "c" => {
            must(Command::new("make").arg("-C").arg(&project));
            project.join(library)
        }
        "rust" => {
            let built = project.join(&library);
            fs::copy(cargo(&project, &library), &built).expect("library");
            built
        }
        _ => project.join(format!("crossvisor-plugin-{kind}-fresh")),
    }
}

#[test]
fn every_new_project_builds_passes_its_check_and_is_planned_as_it_is() {
    let shop = Shop::new();
    for language in ["c", "python", "rust"] {
        for kind in ["hypervisor", "storage", "workload"] {
            let file = project(&shop, language, kind);
            shop.must_pass(&file);
            must(shop.crossvisor().args(["plugin", "trust"]).arg(&file));
            let project = shop.folder().join(format!("{language}-{kind}"));
            let mut plan = shop.crossvisor();
            plan.env("CROSSVISOR_PLUGIN_PATH", &project).arg("plan").arg(project.join("scenario.yaml"));
            let planned = must(&mut plan);
            assert!(planned.contains("fresh"), "{language} {kind}: {planned}");
        }
    }
}

#[test]
fn a_project_is_never_written_over_something() {
    let shop = Shop::new();
    let mut new = shop.crossvisor();
    new.args(["plugin", "new", "--lang", "c", "--kind", "storage", "fresh", "--dir"]).arg(shop.folder());
    let output = new.output().expect("new");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("exists already"), "{}", text(&output));
    assert_eq!(fs::read_dir(shop.folder()).expect("folder").count(), 0);
}

#[test]
fn the_examples_use_the_templates_of_new_projects() {
    for file in ["envelope.c", "envelope.h"] {
        let template = fs::read_to_string(root().join("core/cli/templates/c").join(file)).expect(file);
        let example = root().join("plugins/examples/storage-preallocated").join(file);
        assert_eq!(fs::read_to_string(example).expect(file), template, "{file}");
    }
}

#[test]
fn a_plugin_built_for_the_first_version_of_the_contract_still_keeps_it() {
    let shop = Shop::new();
    let name = "libcrossvisor_storage_preallocated.so";
    let kept = root().join("tests/fixtures/plugin-abi-1.0").join(name);
    assert!(fs::metadata(&kept).expect("fixture").len() < 32 << 10);
    let file = shop.folder().join(name);
    fs::copy(kept, &file).expect("copy");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("mode");
    shop.must_pass(&file);
}

/// Puts a source of the collection where a plugin of its name would be.
fn install_bad(source: &Path, folder: &Path) -> PathBuf {
    let extension = source.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let library = folder.join("libcrossvisor_storage_bad.so");
    let script = folder.join("crossvisor-plugin-storage-bad");
    let installed = if matches!(extension, "c" | "so") { library } else { script };
    if extension == "c" {
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-w", "-I"]).arg(root().join("core/plugin/include"));
        must(cc.arg("-o").arg(&installed).arg(source));
    } else {
        fs::copy(source, &installed).expect("copy");
    }
    fs::set_permissions(&installed, fs::Permissions::from_mode(0o755)).expect("mode");
    installed
}

#[test]
fn no_bad_plugin_of_the_collection_passes_its_check() {
    let entries = fs::read_dir(root().join("tests/bad-plugins")).expect("collection");
    let sources: Vec<_> = entries.map(|entry| entry.expect("entry").path()).collect();
    let is_plugin =
        |path: &&PathBuf| path.extension().is_some_and(|extension| extension != "md" && extension != "h");
    let bad: Vec<_> = sources.iter().filter(is_plugin).collect();
    assert!(bad.len() >= 20, "{bad:?}");
    std::thread::scope(|scope| {
        for source in bad {
            scope.spawn(move || {
                let shop = Shop::new();
                let output = shop.check(&install_bad(source, shop.folder()), "2s");
                let said = String::from_utf8_lossy(&output.stdout);
                assert_eq!(output.status.code(), Some(1), "{}: {}", source.display(), text(&output));
                assert!(said.contains("FAILED") && said.contains("error: "), "{}: {said}", source.display());
            });
        }
    });
}
