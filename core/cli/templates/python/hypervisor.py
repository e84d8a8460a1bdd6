
MANIFEST = {
    "name": "@name@",
    "version": "0.1.0",
    "kind": "hypervisor",
    "summary": "QEMU by its own command line",
    "offers": [
        {
            "name": "@offer@",
            "summary": "virtio disk and network",
            "host_programs": ["qemu-system-x86_64", "pgrep", "pkill"],
        }
    ],
}


def define(options, given, results):
    domain = given["domain"]
    if domain["accel"] not in ("kvm", "tcg"):
        raise Refusal(f"{MANIFEST['name']} runs with accel kvm or tcg, not {domain['accel']}")
    if domain["network"]["mode"] != "user":
        raise Refusal(f"{MANIFEST['name']} joins no bridge: take a host without one")
    argv = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-daemonize"]
    argv += ["-pidfile", pid_file(domain), "-name", domain["name"], "-uuid", domain["uuid"]]
    argv += ["-machine", f"pc,accel={domain['accel']}", *(["-cpu", "host"] if domain["accel"] == "kvm" else [])]
    argv += ["-smp", str(domain["vcpus"]), "-m", str(domain["memory_mib"])]
    argv += ["-kernel", domain["kernel"], "-initrd", domain["initrd"]]
    argv += ["-append", f"{domain['cmdline']} console=ttyS0", "-serial", f"file:{domain['console_log']}"]
    argv += ["-device", "virtio-rng-pci", *network(domain), *disks(domain)]
    kill = find(["pkill", "--signal", "KILL"], domain)
    return finish([step("start the emulator", execute("host", argv, 60), kill)])


def network(domain):
    forwards = domain["network"]["forwards"]
    ports = "".join(f",hostfwd=tcp:127.0.0.1:{f['host_port']}-:{f['guest_port']}" for f in forwards)
    card = f"virtio-net-pci,netdev=net0,mac={domain['mac']},romfile="
    return ["-netdev", f"user,id=net0{ports}", "-device", card]


def disks(domain):
    argv = []
    for index, volume in enumerate(domain["volumes"]):
        [path] = volume["source"].values()
        path = path.replace(",", ",,")
        cache, io = volume.get("cache") or "writeback", volume.get("io") or "threads"
        drive = f"file={path},if=none,id=disk{index},format={volume['format']},cache={cache},aio={io}"
        argv += ["-drive", drive, "-device", f"virtio-blk-pci,drive=disk{index}"]
    return argv


def pid_file(domain):
    return f"{domain['console_log']}.pid"


def find(program, domain):
    """pgrep or pkill for this guest's process and no other: the number in the file, which QEMU keeps locked as long
    as it runs, and the guest's UUID on its command line. They end with 1 where there is none."""
    argv = [*program, "--logpidfile", "--pidfile", pid_file(domain), "--full", "--", f"-uuid {domain['uuid']}"]
    return execute("host", argv, 30, ok_exit=(0, 1))


def alive(options, given, results):
    if not results:
        return go_on(step("look for the emulator", find(["pgrep"], given["domain"])))
    return finish(output={"alive": results[0]["exec"]["exit"] == 0})


OPERATIONS = {"define": define, "alive": alive}
