"""Jobs of high-energy physics in Python: one process per processor, all released together.

Owns the two jobs and what they print: one line of JSON. It must never choose how many copies are right, and never
print a figure that it did not measure.
"""

import argparse
import json
import multiprocessing
import platform
import random
import sys
import time


def db12(asked):
    """The DIRAC Benchmark 2012: sums of normal variates, as https://github.com/DIRACGrid/DB12 publishes it.

    The score, 250 for 12,500,000 numbers in one second of processor time, is not made here. A fixed seed gives each
    copy the same numbers. The first round is not counted: processors change their speed when work begins.
    """
    random.seed(2012)

    def one_round():
        whole = squares = 0
        p_1 = p_2 = 0
        for _ in range(asked.numbers):
            number = random.normalvariate(10, 1)
            whole += number
            squares += number * number
            p_1 += number
            p_2 += number * number
        return whole

    one_round()
    return lambda: round(sum(one_round() for _ in range(asked.rounds)), 3)


def pythia(asked):
    """Proton collisions at 13 TeV, all that are neither elastic nor diffractive, by PYTHIA 8 with a fixed seed.

    The check is the number of charged particles that reach a detector.
    """
    import pythia8mc

    generator = pythia8mc.Pythia("", False)
    for setting in (
        "Print:quiet = on",
        "Beams:eCM = 13000.",
        "SoftQCD:nonDiffractive = on",
        "Random:setSeed = on",
        f"Random:seed = {asked.seed}",
    ):
        if not generator.readString(setting):
            raise RuntimeError(f"PYTHIA does not take the setting '{setting}'")
    if not generator.init():
        raise RuntimeError("PYTHIA cannot be initialised")

    def collide():
        charged = 0
        for number in range(asked.events):
            if not generator.next():
                raise RuntimeError(f"PYTHIA gave up at event {number + 1}")
            event = generator.event
            charged += sum(1 for at in range(event.size()) if event[at].isFinal() and event[at].isCharged())
        return charged

    return collide


def version(job):
    """That of PYTHIA, without loading it into this process."""
    if job is not pythia:
        return None
    from importlib.metadata import version as version_of

    return version_of("pythia8mc")


def brand():
    """The first word of the processor's model name, by which correction factors of DB12 are published."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].split() for line in file if line.startswith("model name")]
    except OSError:
        return None
    return names[0][0] if names and names[0] else None


def copy(asked, pipe):
    """One copy: gets ready, waits to be released, works, and tells what it took, or in words why it cannot."""
    try:
        begin = time.monotonic()
        work = asked.job(asked)
        pipe.send(time.monotonic() - begin)
        pipe.recv()
        wall, cpu = time.monotonic(), time.process_time()
        check = work()
        pipe.send({"wall_s": time.monotonic() - wall, "cpu_s": time.process_time() - cpu, "check": check})
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")


def heard(pipe, process, number):
    """What a copy tells next; one that fails is the end of all."""
    try:
        said = pipe.recv()
        if isinstance(said, str):
            sys.exit(f"copy {number}: {said}")
        return said
    except EOFError:
        process.join()
        code = process.exitcode
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        sys.exit(f"copy {number} {how} before it had a result")


def main():
    parser = argparse.ArgumentParser()
    jobs = parser.add_subparsers(required=True)
    for job, options in ((db12, ("numbers", "rounds")), (pythia, ("events", "seed"))):
        names = jobs.add_parser(job.__name__)
        names.set_defaults(job=job)
        for option in ("copies", *options):
            names.add_argument(f"--{option}", type=int, required=True)
    asked = parser.parse_args()

    fork = multiprocessing.get_context("fork")
    copies = []
    for _ in range(asked.copies):
        mine, theirs = fork.Pipe()
        process = fork.Process(target=copy, args=(asked, theirs), daemon=True)
        process.start()
        theirs.close()
        copies.append((mine, process))
    ready = [heard(*one, number) for number, one in enumerate(copies, 1)]
    begin = time.monotonic()
    for pipe, _ in copies:
        pipe.send("go")
    each = [heard(*one, number) for number, one in enumerate(copies, 1)]
    wall = time.monotonic() - begin
    line = {option: value for option, value in vars(asked).items() if option != "job"}
    line.update(job=asked.job.__name__, python=platform.python_version(), version=version(asked.job), brand=brand())
    line.update(ready_s=max(ready), wall_s=wall, each=each)
    print(json.dumps(line))


main()
