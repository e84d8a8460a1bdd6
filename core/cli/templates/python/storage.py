
MANIFEST = {
    "name": "@name@",
    "version": "0.1.0",
    "kind": "storage",
    "summary": "volumes that are copies of the guest's image",
    "offers": [
        {
            "name": "@offer@",
            "summary": "a sparse raw file",
            "options": [
                {
                    "name": "cache",
                    "type": "choice",
                    "of": ["none", "writeback"],
                    "default": "none",
                    "help": "host page cache mode of the disk",
                }
            ],
            "host_programs": ["cp", "stat"],
        }
    ],
}


def create(options, given, results):
    path = f"{given['folder']}/{given['name']}.raw"
    copy = execute("host", ["cp", "--sparse=always", "--", given["golden"], path], 600)
    steps = [step("copy the image", copy, {"do": "remove_file", "on": "host", "path": path})]
    volume = {"source": {"file": path}, "format": "raw", "cache": options.get("cache", "none")}
    return finish(steps, {"volume": volume})


def inspect(options, given, results):
    if not results:
        path = given["volume"]["source"]["file"]
        return go_on(step("read the volume's size", execute("host", ["stat", "--format=%b %B", "--", path], 30)))
    return finish(output={"allocated_bytes": allocated(results[0]["exec"]["stdout"])})


def allocated(printed):
    """The bytes that stat printed as a number of blocks and the size of one; None where it printed something else."""
    numbers = printed.split()
    if len(numbers) != 2 or not all(n.isascii() and n.isdigit() and len(n) < 16 for n in numbers):
        return None
    return int(numbers[0]) * int(numbers[1])


OPERATIONS = {"create": create, "inspect": inspect}
