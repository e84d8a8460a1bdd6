
MANIFEST = {
    "name": "@name@",
    "version": "0.1.0",
    "kind": "workload",
    "summary": "bytes copied in memory",
    "offers": [
        {
            "name": "@offer@",
            "summary": "dd from /dev/zero to /dev/null",
            "options": [
                {
                    "name": "size",
                    "type": "size",
                    "min": 1 << 20,
                    "max": 1 << 40,
                    "default": 1 << 30,
                    "help": "how much is copied",
                }
            ],
            "metrics": [
                {"name": "rate", "label": "bytes copied", "unit": "MiB/s", "better": "higher", "headline": True}
            ],
            "guest_programs": ["dd"],
        }
    ],
}


def prepare(options, given, results):
    return finish()


def work(options, given, results):
    argv = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", f"count={options['size'] >> 20}"]
    runs = [run(instance["place"], argv, 3600) for instance in given["instances"]]
    return finish([step("copy bytes", {"do": "together", "round": "copy", "servers": [], "runs": runs})])


def parse(options, given, results):
    if given["exit"] != 0:
        raise Refusal("dd failed: what it said is in the run directory")
    return finish(output={"samples": [{"metric": "rate", "measured": rate(given["stderr"])}]})


def rate(printed):
    """MiB/s from the line `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.25 s, 4.3 GB/s`."""
    for line in printed.splitlines():
        before, found, after = line.partition(" copied, ")
        if found:
            return int(before.split()[0]) / float(after.split()[0]) / (1 << 20)
    raise Refusal("dd printed no rate: what it said is in the run directory")


OPERATIONS = {"prepare": prepare, "work": work, "parse": parse}
