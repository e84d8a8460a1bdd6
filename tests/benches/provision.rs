//! Time until guests answer over SSH: `crossvisor run`, from the start of its process, against the same kernel, initrd
//! and disk booted by a bare emulator command, turn about in one session. Prints each pair, the median ratio, and the
//! program's peak memory.
//!
//! `script/bench provision [PAIRS]`

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossvisor_image::{GuestLibrary, Identity, Image, build, seed_initrd};
use crossvisor_target::ssh::{HostKey, Login, Way};
use crossvisor_target::{Cancel, Ssh, SshAddress, port};
use crossvisor_tests::Lab;
use ssh_key::{LineEnding, PrivateKey, PublicKey};

const LIMIT: Duration = Duration::from_secs(300);
const MEMORY_MIB: u32 = 384;

fn main() {
    let pairs = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(5_usize);
    let lab = Lab::new();
    let guest = GuestLibrary::from_environment().get("debian-12").expect("guest");
    let cache = crossvisor_engine::Settings::from_environment().images();
    let image = build(&guest, &cache, &mut |_| (), &|| false).expect("image");
    let cmdline = format!("{} console=ttyS0", guest.boot.cmdline);
    // The first run asks the emulator what it can do and tries KVM; both answers are kept.
    ours(&lab, 1, "warm-up");
    for guests in [1, 2] {
        let mut ratios: Vec<f64> = (1..=pairs)
            .map(|pair| {
                let bare = bare(&lab, &image, &cmdline, guests);
                let (own, peak_kib) = ours(&lab, guests, &format!("g{guests}-p{pair}"));
                let ratio = own.as_secs_f64() / bare.as_secs_f64();
                println!("{guests} guests: bare {bare:.2?}, crossvisor {own:.2?}, ratio {ratio:.3}, peak {peak_kib} KiB");
                ratio
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        println!("{guests} guests: median ratio {:.3} of {pairs} pairs", ratios[pairs / 2]);
    }
}

/// Ends an emulator that is not needed any more.
struct Emulator(Child);

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Boots guests by a bare command; disks, seeds and keys are ready before the clock starts.
fn bare(lab: &Lab, image: &Image, cmdline: &str, guests: usize) -> Duration {
    let folder = lab.state().join("bare");
    fs::create_dir_all(&folder).expect("folder");
    let prepared: Vec<_> = (0..guests).map(|guest| prepare(&folder, image, guest)).collect();
    let start = Instant::now();
    let emulators: Vec<_> =
        prepared.iter().map(|(disk, initrd, ssh)| boot(disk, initrd, ssh.0, image, cmdline)).collect();
    thread::scope(|scope| {
        for (_, _, (_, machine)) in &prepared {
            scope.spawn(move || {
                machine.wait_until_up(start + LIMIT, &Cancel::default(), &|| Ok(())).expect("bare guest");
            });
        }
    });
    let took = start.elapsed();
    drop(emulators);
    fs::remove_dir_all(folder).expect("remove");
    took
}

fn prepare(folder: &Path, image: &Image, guest: usize) -> (PathBuf, PathBuf, (u16, Ssh)) {
    let (disk, initrd) = (folder.join(format!("{guest}.raw")), folder.join(format!("{guest}.initrd")));
    let copied = Command::new("cp").arg("--sparse=always").arg(&image.root).arg(&disk).status();
    assert!(copied.expect("cp").success());
    let mut random = ssh_key::rand_core::OsRng;
    let key = PrivateKey::random(&mut random, ssh_key::Algorithm::Ed25519).expect("key");
    let private = folder.join(format!("{guest}.key"));
    fs::write(&private, key.to_openssh(LineEnding::LF).expect("key").as_bytes()).expect("key");
    let public = key.public_key().to_openssh().expect("key");
    let identity = Identity::generate(&format!("bare-{guest}"), &public).expect("identity");
    seed_initrd(&image.initrd, &identity, &initrd).expect("seed");
    let host_key = PublicKey::from_openssh(&identity.host_key_public).and_then(|key| key.to_bytes());
    let port = port::free(1).expect("port")[0];
    let socket = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let address = SshAddress {
        way: Way::Direct(socket),
        user: "root".into(),
        login: Login::Key(private),
        host_key: HostKey::Pinned(host_key.expect("key")),
    };
    (disk, initrd, (port, Ssh::new(address)))
}

fn boot(disk: &Path, initrd: &Path, port: u16, image: &Image, cmdline: &str) -> Emulator {
    let drive = format!("file={},format=raw,if=virtio,cache=none,aio=native", disk.display());
    let child = Command::new("qemu-system-x86_64")
        .args(["-accel", "tcg", "-machine", "pc", "-nodefaults", "-display", "none", "-serial", "null"])
        .args(["-m", &MEMORY_MIB.to_string(), "-smp", "1", "-drive", &drive])
        .args(["-netdev", &format!("user,id=n0,hostfwd=tcp:127.0.0.1:{port}-:22")])
        .args(["-device", "virtio-net-pci,netdev=n0,romfile=", "-device", "virtio-rng-pci"])
        .arg("-kernel")
        .arg(&image.kernel)
        .arg("-initrd")
        .arg(initrd)
        .args(["-append", cmdline])
        .stdin(Stdio::null())
        .spawn();
    Emulator(child.expect("emulator"))
}

/// Runs a scenario, and takes the time until the last guest was reached; also the peak memory in KiB.
fn ours(lab: &Lab, guests: usize, name: &str) -> (Duration, u64) {
    let text = format!(
        "name: provision\nguest: {{image: debian-12, memory: {MEMORY_MIB}MiB}}\n\
        matrix: {{hypervisor: [kvm-virtio], storage: [file], guests: [{guests}], workload: [pi]}}\n\
        workloads: {{pi: {{digits: 1000, repeat: 1}}}}\nrepeat: 1\n"
    );
    let scenario = lab.scenario("provision", &text);
    let events = lab.runs().join(name).join("events.jsonl");
    let start = Instant::now();
    let mut run = lab.start_run(&scenario, name);
    let reached = || {
        let text = fs::read_to_string(&events).unwrap_or_default();
        text.lines().filter(|line| line.contains("guest_reached") && line.contains(r#""boot""#)).count()
    };
    while reached() < guests {
        assert!(start.elapsed() < LIMIT && !run.has_ended(), "no guest was reached");
        thread::sleep(Duration::from_millis(5));
    }
    let took = start.elapsed();
    let status = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|value| value.trim().split(' ').next()?.parse().ok()).unwrap_or_default();
    assert!(run.wait(LIMIT).status.success());
    (took, peak)
}
