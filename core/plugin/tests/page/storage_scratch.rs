use crossvisor_plugin::model::{
    Action, Exec, Kind, Manifest, Name, Offer, Place, Step, StepResult, Volume, VolumeSource,
};
use crossvisor_plugin::sdk::Chosen;
use crossvisor_plugin::{
    CreateInput, CreateOutput, Failure, InspectInput, InspectOutput, Resume, Storage, Turn, finish, plugin,
};

pub struct Scratch;

plugin!(storage_scratch, storage, Scratch);

impl Storage for Scratch {
    fn manifest(&self) -> Manifest {
        let name = |text| Name::new(text).unwrap_or_else(|e| unreachable!("{e}"));
        Manifest {
            name: name("storage-scratch"),
            version: "0.1.0".into(),
            kind: Kind::Storage,
            summary: "volumes that are plain copies".into(),
            offers: vec![Offer {
                host_programs: vec!["dd".into(), "stat".into()],
                ..Offer::new(name("scratch"), "a raw file, copied with dd")
            }],
        }
    }

    fn create(&self, _: &Chosen, input: &CreateInput, _: &Resume) -> Result<Turn, Failure> {
        let path = input.folder.join(format!("{}.img", input.name));
        let (from, to) = (format!("if={}", input.golden.display()), format!("of={}", path.display()));
        let copy = Exec::new(Place::Host, ["dd", &from, &to, "bs=1M", "conv=sparse"], 600.0);
        let step = Step::new("copy the image", Action::Exec(copy))
            .undone_by(Action::RemoveFile { on: Place::Host, path: path.clone() });
        let volume = Volume::new(VolumeSource::File(path), "raw");
        finish(vec![step], CreateOutput { volume })
    }

    fn inspect(&self, _: &Chosen, input: &InspectInput, resume: &Resume) -> Result<Turn, Failure> {
        let (VolumeSource::File(path) | VolumeSource::Block(path)) = &input.volume.source;
        let Some(StepResult::Exec(stat)) = resume.results.first() else {
            let argv = ["stat", "--format=%b", "--", &path.to_string_lossy()];
            let step =
                Step::new("count the volume's blocks", Action::Exec(Exec::new(Place::Host, argv, 30.0)));
            return Ok(Turn { steps: vec![step], ..Turn::default() });
        };
        let blocks = stat.stdout.trim().parse::<u64>().ok();
        finish(Vec::new(), InspectOutput::of(blocks.map(|blocks| blocks * 512)))
    }
}
