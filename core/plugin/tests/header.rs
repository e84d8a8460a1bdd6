//! The C header: clean in every dialect it promises, and the same contract as its mirror in Rust.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crossvisor_plugin::abi::{
    ABI_MAJOR, ABI_MINOR, CALL_INTERNAL, CALL_OK, CALL_SINK, Descriptor, HEADER, MAGIC, symbol,
};

const DIALECTS: [(&str, &str, &str); 3] =
    [("cc", "-std=c99", "c"), ("cc", "-std=c11", "c"), ("c++", "-std=c++17", "c++")];
const USE: &str = r#"
#include "crossvisor_plugin.h"
#include "crossvisor_plugin.h"
static int32_t call(const uint8_t *request, size_t length, crossvisor_write_fn write, void *sink) {
    return write(sink, request, length) ? CROSSVISOR_CALL_SINK : CROSSVISOR_CALL_OK;
}
#ifdef __cplusplus
extern "C"
#endif
const struct crossvisor_plugin_v1 *crossvisor_plugin_v1_storage_echo(void);
const struct crossvisor_plugin_v1 *crossvisor_plugin_v1_storage_echo(void) {
    static const struct crossvisor_plugin_v1 plugin = {
        CROSSVISOR_PLUGIN_MAGIC, sizeof plugin, CROSSVISOR_PLUGIN_ABI_MAJOR, CROSSVISOR_PLUGIN_ABI_MINOR,
        (const uint8_t *)"{}", 2, call, {NULL, NULL, NULL, NULL}};
    return &plugin;
}
"#;

/// Compiles `USE` with this text as the header.
fn compile(header: &str, (compiler, dialect, language): (&str, &str, &str)) -> Output {
    let folder = tempfile::tempdir().expect("folder");
    fs::write(folder.path().join("crossvisor_plugin.h"), header).expect("header");
    fs::write(folder.path().join("use"), USE).expect("source");
    let mut command = Command::new(compiler);
    command.args([dialect, "-Wall", "-Wextra", "-Werror", "-pedantic", "-x", language, "-c", "use"]);
    command.args(["-o", "use.o"]).current_dir(folder.path()).output().expect(compiler)
}

#[test]
fn the_header_compiles_without_a_warning_in_every_dialect() {
    for dialect in DIALECTS {
        let output = compile(HEADER, dialect);
        assert!(output.status.success(), "{dialect:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn another_layout_does_not_compile_in_any_dialect() {
    let faults = [
        ("uint16_t abi_minor;", "uint32_t abi_minor;", "abi_minor"),
        ("size_t manifest_length;", "uint16_t manifest_length; uint8_t more[8];", "call"),
        ("void *reserved[4];", "void *reserved[5];", "size_of_descriptor"),
    ];
    for (right, wrong, told) in faults {
        assert!(HEADER.contains(right));
        for dialect in DIALECTS {
            let output = compile(&HEADER.replace(right, wrong), dialect);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains(told), "{dialect:?}, {wrong}: {said}");
        }
    }
}

const PRINT: &str = r#"
#include "crossvisor_plugin.h"
#include <stdio.h>
#define OFFSET(field) printf("%zu\n", offsetof(struct crossvisor_plugin_v1, field))
int main(void) {
    printf("%llu\n%d\n%d\n", (unsigned long long)CROSSVISOR_PLUGIN_MAGIC, CROSSVISOR_PLUGIN_ABI_MAJOR,
           CROSSVISOR_PLUGIN_ABI_MINOR);
    printf("%d\n%d\n%d\n", CROSSVISOR_CALL_OK, CROSSVISOR_CALL_INTERNAL, CROSSVISOR_CALL_SINK);
    printf("%zu\n", sizeof(struct crossvisor_plugin_v1));
    OFFSET(magic); OFFSET(struct_size); OFFSET(abi_major); OFFSET(abi_minor);
    OFFSET(manifest_json); OFFSET(manifest_length); OFFSET(call); OFFSET(reserved);
    return 0;
}
"#;

#[test]
fn header_and_mirror_have_the_same_numbers() {
    let folder = tempfile::tempdir().expect("folder");
    let (source, program) = (folder.path().join("print.c"), folder.path().join("print"));
    fs::write(&source, PRINT).expect("source");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let built = Command::new("cc").arg("-I").arg(include).arg("-o").arg(&program).arg(&source).status();
    assert!(built.expect("cc").success());
    let printed = Command::new(program).output().expect("run").stdout;
    let printed: Vec<u64> =
        String::from_utf8_lossy(&printed).lines().map(|line| line.parse().expect("number")).collect();
    let codes = [CALL_OK, CALL_INTERNAL, CALL_SINK].map(|code| u64::try_from(code).expect("code"));
    let offsets = [
        size_of::<Descriptor>(),
        std::mem::offset_of!(Descriptor, magic),
        std::mem::offset_of!(Descriptor, struct_size),
        std::mem::offset_of!(Descriptor, abi_major),
        std::mem::offset_of!(Descriptor, abi_minor),
        std::mem::offset_of!(Descriptor, manifest_json),
        std::mem::offset_of!(Descriptor, manifest_length),
        std::mem::offset_of!(Descriptor, call),
        std::mem::offset_of!(Descriptor, reserved),
    ];
    let mirror =
        [&[MAGIC, ABI_MAJOR.into(), ABI_MINOR.into()][..], &codes, &offsets.map(|o| o as u64)].concat();
    assert_eq!(printed, mirror);
    assert_eq!(&MAGIC.to_le_bytes(), b"CVISGNv1");
    assert_eq!(symbol("storage-a.b"), "crossvisor_plugin_v1_storage_a_b");
}
