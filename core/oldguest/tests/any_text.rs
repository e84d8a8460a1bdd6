//! No text makes a reader or the writer fail.

use crossvisor_model::{Bytes, Name};
use crossvisor_oldguest::{Image, Reading, libvirt, scenario, twins, xl};
use proptest::prelude::*;

fn write(readings: &[Reading]) {
    let image = Image { name: Name::new("debian-12").expect("name"), min_memory: Bytes(256 << 20) };
    let guests: Vec<_> = readings.iter().filter_map(|reading| reading.guest.as_ref()).collect();
    for guest in &guests {
        let text = scenario(guest, &image);
        let keys =
            ["name:", "description:", "hosts:", "guest:", "matrix:", "hypervisors:", "storages:", "compare:"];
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with([' ', '#'])) {
            assert!(keys.iter().any(|key| line.starts_with(key)), "{line}");
        }
    }
    let named: Vec<_> = guests.iter().map(|guest| (guest.called().to_string(), *guest)).collect();
    let _ = twins(&named);
}

/// Pieces of which configurations are made, in any order.
fn pieces(of: &'static [&'static str]) -> impl Strategy<Value = String> {
    let piece = prop_oneof![4 => proptest::sample::select(of).prop_map(String::from), 1 => any::<String>()];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

const XL: &[&str] = &[
    "name",
    "memory",
    "disk",
    "vif",
    "cpus",
    "vnuma",
    "if",
    "else:",
    "def",
    "import",
    " ",
    "\n",
    "\n  ",
    "=",
    "+=",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ";",
    ":",
    "'",
    "\"",
    "'''",
    "“",
    "’",
    "%",
    "%s",
    "+",
    "*",
    "-",
    ".",
    "#",
    "\\",
    "0-3,^1",
    "512",
    "phy:/dev/vg/a,xvda,w",
    "'file:/a,hda,w'",
    "format=",
    "target=",
    "mac=",
    "x",
    "\u{a0}",
    "\u{feff}",
    "\u{2028}",
    "\0",
];
const XML: &[&str] = &[
    "<domain type='kvm'>",
    "<domain>",
    "</domain>",
    "<name>",
    "</name>",
    "<memory unit='GiB'>",
    "</memory>",
    "<devices>",
    "</devices>",
    "<disk type='file'>",
    "</disk>",
    "<source file='/a'/>",
    "<",
    ">",
    "/>",
    "'",
    "&amp;",
    "&#x41;",
    "&x;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE",
    "<?",
    "?>",
    "512",
    "\n",
    "<vcpu cpuset='0-3'>",
    "<cpu><numa><cell cpus='0'/>",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_too_odd(text in any::<String>()) {
        write(&[xl(&text)]);
        write(&libvirt(&text));
    }

    #[test]
    fn no_configuration_is_too_broken(text in pieces(XL)) {
        write(&[xl(&text)]);
    }

    #[test]
    fn no_document_is_too_broken(text in pieces(XML)) {
        write(&libvirt(&text));
    }

    #[test]
    fn a_word_of_the_guest_is_never_yaml(name in any::<String>(), vg in any::<String>(), bridge in any::<String>()) {
        let quote = |text: &str| text.replace(['\\', '"', '\n', '\r'], "x");
        let (name, vg, bridge) = (quote(&name), quote(&vg), quote(&bridge));
        write(&[xl(&format!("name = \"{name}\"\nmemory = 1\nextra = \"{vg}\"\ndisk = [\"/dev/{vg}/a,raw,xvda\"]\nvif = [\"bridge={bridge}\"]"))]);
    }
}

#[test]
fn depth_and_length_are_bounded() {
    let many = |text: &str| text.repeat(50_000);
    for text in [
        format!("disk = {}", many("[")),
        format!("memory = {}", many("-")),
        format!("{}1", many("a = ")),
        format!("a = [1]\n{}", "a = [a, a]\n".repeat(2000)),
        format!("a = 'x'\n{}", "a = a + a\n".repeat(2000)),
        many("if x:\n"),
        many("\u{201c}"),
        many("a = '"),
        "x = 1\n".repeat(50_000),
        "x".repeat(5 << 20),
    ] {
        write(&[xl(&text)]);
    }
    for text in [many("<a>"), format!("<domain type='kvm'>{}", many("<a>")), many("<domain >"), many("<!--")]
    {
        write(&libvirt(&text));
    }
}
