//! Staging, options that must be set, spoiled volumes and bridges.

use super::*;

#[test]
fn staging_that_says_what_cannot_be_is_found() {
    faults::<Disk>(&["stage"], "the image's path root.img is relative", |asked, answer| {
        edit(asked, "stage", answer, |turn| turn.output["golden"] = json!("root.img"))
    });
    faults::<Disk>(&["stage"], "the fact 'disk' has no name, or is not one line", |asked, answer| {
        edit(asked, "stage", answer, |turn| turn.output["facts"] = json!({"disk": "a\nb"}))
    });
    faults::<Disk>(&["stage"], "a timeout of 0 s", |asked, answer| {
        edit(asked, "stage", answer, |turn| {
            turn.steps.push(Step::new("wait", Action::Exec(Exec::new(Place::Host, ["true"], 0.0))));
        })
    });
    fails::<Machine>(&["stage"], "nothing to stage", |m| m.offers[0].stages = true, |_, answer| answer);
}

#[test]
fn what_is_spoiled_by_no_output_is_found() {
    faults::<Disk>(&["inspect"], "spoiled ('it is full') is told from output", |asked, answer| {
        edit(asked, "inspect", answer, |turn| turn.output["spoiled"] = json!("it is full"))
    });
}

/// Refuses everything before the option `size` is set.
fn in_need(asked: &Value, answer: Result<Turn, Failure>, option: &str) -> Result<Turn, Failure> {
    if asked["options"]["size"].is_null() {
        Err(Failure::new(format!("set the option {option}")))
    } else {
        answer
    }
}

#[test]
fn an_option_that_must_be_set_is_set_where_the_refusal_names_it() {
    let unset = |m: &mut Manifest| m.offers[0].options[0].default = None;
    let found = findings::<Disk>(unset, |asked, answer| in_need(asked, answer, "'size'"));
    assert!(passed(&found), "{found:#?}");
    let unnamed: Fault = |asked, answer| in_need(asked, answer, "of length");
    fails::<Disk>(&["stage", "create", "inspect"], "refused: set the option of length", unset, unnamed);
}

/// Loses a file of the domain.
fn lose(file: &str, asked: &Value, answer: Result<Turn, Failure>) -> Result<Turn, Failure> {
    edit(asked, "define", answer, |turn| {
        if let Action::DomainDefine { xml } = &mut turn.steps[0].action {
            *xml = xml.replace(file, "/lost");
        }
    })
}

#[test]
fn a_guest_that_starts_from_its_own_disk_has_an_identity_disk_and_needs_no_initrd() {
    let own_boot = |m: &mut Manifest| m.offers[0].own_boot = true;
    let found = findings::<Machine>(own_boot, |asked, answer| lose(".initrd", asked, answer));
    assert!(passed(&found), "{found:#?}");
    let disk = "no step uses the domain's identity disk";
    fails::<Machine>(&["define"], disk, own_boot, |asked, answer| lose(".identity", asked, answer));
    let initrd = "no step uses the domain's initrd";
    faults::<Machine>(&["define"], initrd, |asked, answer| lose(".initrd", asked, answer));
}

#[test]
fn a_guest_on_a_bridge_is_on_that_bridge_unless_bridges_are_refused() {
    faults::<Machine>(&["define"], "no step uses the domain's bridge (br4711)", |asked, answer| {
        edit(asked, "define", answer, |turn| {
            if let Action::DomainDefine { xml } = &mut turn.steps[0].action {
                *xml = xml.replace("br4711", "br0");
            }
        })
    });
    let found = findings::<Machine>(
        |_| {},
        |asked, answer| match &asked["input"]["domain"]["network"]["mode"] {
            Value::String(mode) if asked["op"] == "define" && mode == "user" => {
                Err(Failure::new("bridges only"))
            }
            _ => answer,
        },
    );
    let wrong: Vec<_> = found.iter().filter(|finding| finding.is_error()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    faults::<Machine>(&["define"], "other volumes than the domain", |asked, answer| {
        edit(asked, "define", answer, |turn| turn.output = json!({"volumes": []}))
    });
}
