# Processes that take turns on the same CPUs: the peers, which stay alive and
# wait, and tfc-bench.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import contextlib
import fcntl
import json
import os
import resource
import statistics
import subprocess
import sys
import time

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")
# Between two turns, so that the threads of the last one stop to spin.
PAUSE = 0.3
# A turn during which others used more than this many CPUs is taken again, but
# not for ever.
DISTURBED, MOST_TRIES = 0.1, 3
TICKS = os.sysconf("SC_CLK_TCK")


def choose_cpus(count):
    """That many of the CPUs that this process may use, on different cores
    where there are enough; the first ones serve the system."""
    cores = {}
    allowed = sorted(os.sched_getaffinity(0), reverse=True)
    for cpu in allowed:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        try:
            with open(path, encoding="utf-8") as stream:
                core = stream.read().strip()
        except OSError:
            core = str(cpu)
        cores.setdefault(core, []).append(cpu)
    order = [cpus[0] for cpus in cores.values()]
    order += [cpu for cpu in allowed if cpu not in order]
    if count > len(order):
        raise ValueError(f"expected at most {len(order)} threads (the CPUs "
                         f"this process may use), got {count}")
    return set(order[:count])


def environment(threads, **more):
    """Of a process that is to use this many threads, whoever makes them."""
    return dict(os.environ, OMP_NUM_THREADS=str(threads),
                MKL_NUM_THREADS=str(threads), TOKENIZERS_PARALLELISM="false",
                HF_HUB_OFFLINE="1", **more)


def busy_seconds():
    """CPU time of everybody on this machine, and what its host took away."""
    with open("/proc/stat", encoding="utf-8") as stream:
        fields = [int(field) for field in stream.readline().split()[1:9]]
    idle, waiting = fields[3:5]
    return (sum(fields) - idle - waiting) / TICKS


class Peer:
    """A script of peers/: it answers requests, and waits in between."""

    def __init__(self, script, model, cache, threads, log, dtype="f32", **more):
        cpus = choose_cpus(threads)
        self.fault = self.version = None
        self.log = log
        with open(log, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [sys.executable, os.path.join(PEERS, script), model,
                 "--threads", str(threads), "--cache", cache,
                 "--dtype", dtype],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=environment(threads, **more), stderr=errors,
                preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def wait_ready(self):
        self.version = self.read().get("version")

    def read(self):
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": self.last_words()}
        if "unsupported" in answer:
            self.fault = "unsupported: " + answer["unsupported"]
        elif "error" in answer:
            self.fault = "error: " + answer["error"].splitlines()[0]
        return answer

    def last_words(self):
        with open(self.log, encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
        return "the process ended" + (f" ({lines[-1]})" if lines else "")

    def ask(self, **request):
        """The answer; {} when there is none, and then fault says why."""
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # reading tells
        answer = self.read()
        return {} if self.fault else answer

    def cpu_seconds(self):
        """CPU time that the process has used."""
        path = f"/proc/{self.process.pid}/stat"
        with open(path, encoding="utf-8") as stream:
            fields = stream.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def take_turn(self, plan):
        return self.ask(seconds=plan["seconds"], least=plan["least"])

    def close(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.wait()


# What tfc-bench says of the library, once for all workloads.
SETTING = ("program", "execution", "weights", "cache", "weight_bytes")


class Bench:
    """tfc-bench: a step as the compiled code alone takes it, and the limits
    of the machine at that moment. A process a turn."""

    def __init__(self, binary, library, packed, model, threads):
        self.command = [binary, library, "--weights", model, "--packed",
                        packed, "--threads", str(threads), "--format", "json"]
        self.threads, self.workload, self.fault = threads, None, None

    @staticmethod
    def cpu_seconds():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def take_turn(self, plan):
        cpus = choose_cpus(self.threads)
        done = subprocess.run(
            [*self.command, "--workload", self.workload, "--warmup", "1",
             "--repeats", str(plan["repeats"]), "--max-seconds", "2"],
            check=True, stdout=subprocess.PIPE, text=True,
            env=environment(self.threads),
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        said = json.loads(done.stdout)
        return {**said["workloads"][0], **{key: said[key] for key in SETTING}}


class Lock:
    """A file that others lock while they build or measure on this machine:
    shared while preparing, alone while timing. Without a path, nothing."""

    # Waiting takes long where others build: once alone, stay for a while.
    HOLD = 120

    def __init__(self, path):
        self.stream = open(path, "a", encoding="utf-8") if path else None
        self.since = None

    def share(self):
        if self.stream:
            fcntl.flock(self.stream, fcntl.LOCK_SH)
        self.since = None

    @contextlib.contextmanager
    def alone(self):
        if self.stream and self.since is None:
            fcntl.flock(self.stream, fcntl.LOCK_UN)
            fcntl.flock(self.stream, fcntl.LOCK_EX)
            self.since = time.monotonic()
        try:
            yield
        finally:
            if self.stream and time.monotonic() - self.since > self.HOLD:
                self.share()


def take_turn(one, plan, tries=MOST_TRIES):
    """The answer of a peer or of tfc-bench, {} when it has failed, and how
    many CPUs others used meanwhile."""
    answer, others = {}, 0.0
    for _ in range(tries):
        time.sleep(PAUSE)
        start, busy, own = time.perf_counter(), busy_seconds(), one.cpu_seconds()
        answer = one.take_turn(plan)
        if not answer:
            break
        foreign = busy_seconds() - busy - (one.cpu_seconds() - own)
        others = max(0.0, foreign / (time.perf_counter() - start))
        if others <= DISTURBED:
            break
    return answer, others


def take_turns(workload, bench, peers, plan):
    """Everybody who is ready for the workload measures it, round and round, so
    that every mood of the machine meets everybody. Who begins changes."""
    everybody = {**peers, "tfc-bench": bench}
    bench.workload = workload
    seconds = {name: [] for name in peers}
    cores = {name: [] for name in peers}
    others = {name: [] for name in everybody}
    steps = []
    begin = time.perf_counter()
    for number in range(plan["rounds"]):
        spent = time.perf_counter() - begin
        if number >= plan["least_rounds"] and spent > plan["piece_seconds"]:
            break
        tries = MOST_TRIES if spent < plan["piece_seconds"] else 1
        names = list(everybody)
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            if everybody[name].fault:
                continue
            answer, foreign = take_turn(everybody[name], plan, tries)
            if not answer:
                continue
            others[name].append(foreign)
            if name == "tfc-bench":
                steps.append(answer)
                continue
            seconds[name].append(statistics.median(answer["seconds"]))
            cores[name].append(answer["cores"])
    return {"seconds": seconds, "cores": cores, "others": others,
            "bench": summarize(steps)}


def summarize(steps):
    """What the runs of tfc-bench said, a value a round."""
    def values(key):
        return [step[key]["median"] if step[key] else 0 for step in steps]

    return {"flops": steps[-1]["flops"], "bytes": steps[-1]["bytes"],
            "tokens": steps[-1]["tokens"], "seconds": values("seconds"),
            "flops_limit": values("flops_limit"),
            "read_limit": values("read_limit"),
            "flops_share": [step["flops_share"] for step in steps],
            "read_share": [step["read_share"] for step in steps],
            "cache_bytes": steps[-1]["cache_bytes"],
            **{key: steps[-1][key] for key in SETTING}}
