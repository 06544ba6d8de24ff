#!/usr/bin/env python3
# Runs the bundle on a machine with a GPU: tests of tiny models first, then steps
# of large ones, and torch's beside them where there is torch. Writes a table and
# one JSON, again after every result. Needs nothing but Python.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import concurrent.futures
import json
import os
import platform
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("eager", "graphs", "compile")
# Seconds that a process gets: what does not end is said, and the rest goes on.
TEST_SECONDS, BENCH_SECONDS, TORCH_SECONDS = 60, 150, 60
# Without a value of the device, which takes microseconds for one.
SILENT_SECONDS = 20
MOST_LINES = 40


def call(command, seconds):
    """(status, standard output, what it said besides): status is an exit code,
    or "hang"."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              errors="replace", timeout=seconds)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        said = [(text or b"").decode(errors="replace")
                for text in (late.stdout, late.stderr)]
        return "hang", *said
    except OSError as fault:
        return "none", "", str(fault)


def program(name):
    return os.path.join(HERE, "bin", name)


def median(values):
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


class Report:
    """Everything that was found, on disk as soon as it is known."""

    def __init__(self, out, bundle):
        os.makedirs(out, exist_ok=True)
        self.out = out
        self.found = {"tfc": bundle["tfc"], "machine": self.facts(),
                      "self_tests": [], "steps": []}

    @staticmethod
    def facts():
        status, said, _ = call(
            ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,"
             "clocks.max.sm,clocks.max.mem,power.limit", "--format=csv"], 20)
        return {"system": platform.platform(), "python": platform.python_version(),
                "cpus": os.cpu_count(), "date": time.strftime("%Y-%m-%d"),
                "nvidia_smi": said.splitlines() if status == 0 else None,
                "driver": os.environ.get("TFC_CUDA_DRIVER", "libcuda.so.1")}

    def write(self):
        for name, text in [("report.json", json.dumps(self.found, indent=1)),
                           ("report.txt", self.table())]:
            path = os.path.join(self.out, name)
            with open(path + ".new", "w", encoding="utf-8") as stream:
                stream.write(text + "\n")
            os.replace(path + ".new", path)

    def table(self):
        tests = self.found["self_tests"]
        good = sum(test["status"] == "ok" for test in tests)
        lines = [f"self-tests: {good} of {len(tests)} ok"]
        for test in tests:
            if test["status"] != "ok":
                lines.append(f"  {test['name']}: {test['status']}")
                lines += [f"    {line}" for line in
                          test["wrong_ops"] or test["said"][-3:]]
        lines += ["", f"{'milliseconds':28} {'tfc':>9} {'kernels':>9} "
                  f"{'of peaks':>8} {'of copy':>8} "
                  + " ".join(f"{mode:>9}" for mode in MODES)]
        for step in self.found["steps"]:
            lines.append(f"{step['model'] + ' ' + step['workload']:28} "
                         + " ".join([cell(step.get("seconds"), 1e3, 9, 3),
                                     cell(step.get("kernel_seconds"), 1e3, 9, 3),
                                     cell(step.get("peak_share"), 100, 7, 1, "%"),
                                     cell(step.get("copy_share"), 100, 7, 1, "%"),
                                     *(cell(step["torch"].get(mode, {}).get(
                                         "seconds"), 1e3, 9, 3)
                                       for mode in MODES)]))
            if "fault" in step:
                lines.append(f"  tfc: {step['fault']}")
        return "\n".join(lines)


def cell(value, factor, width, digits, unit=""):
    text = "-" if value is None else f"{value * factor:.{digits}f}{unit}"
    return f"{text:>{width + len(unit)}}"


def run_test(test):
    """A library's programs beside each other, op by op."""
    command = [program("tfc-run"), os.path.join(HERE, test["library"]),
               "--self-test", "--program", "cuda", "--silence",
               str(SILENT_SECONDS)]
    if test["weights"]:
        command += ["--weights", os.path.join(HERE, test["weights"])]
    status, said, besides = call(command, TEST_SECONDS)
    lines = (said + besides).splitlines()
    names = {0: "ok", "hang": f"does not end within {TEST_SECONDS} s"}
    wrong = list(dict.fromkeys(
        line for line in lines
        if ": wrong op: " in line or line.startswith("WRONG: nothing for")))
    return {"name": test["name"], "wrong_ops": wrong,
            "status": names.get(status, "WRONG" if wrong else
                                f"error, exit status {status}"),
            "said": lines if len(lines) < MOST_LINES and status == 0
            else lines[:MOST_LINES] + lines[-MOST_LINES:]}


def peak_seconds(limits, device):
    """By the peaks of the machine that the device's name says."""
    for machine, seconds in limits.items():
        if machine.upper() in device.upper():
            return seconds
    return None


def time_model(model, repeats):
    """tfc-bench's word on all workloads of a model."""
    command = [program("tfc-bench"), os.path.join(HERE, model["library"]),
               "--random", "--program", "cuda", "--format", "json", "--ops",
               "--max-seconds", "5", "--repeats", str(repeats)]
    for each in model["workloads"]:
        command += ["--workload", each["workload"]]
    status, said, besides = call(command, BENCH_SECONDS)
    steps = [{"model": model["name"], "workload": each["workload"],
              "torch": {}} for each in model["workloads"]]
    if status != 0:
        for step in steps:
            step["fault"] = f"exit status {status}: {besides.strip()[-400:]}"
        return steps
    report = json.loads(said)
    for step, each, found in zip(steps, model["workloads"],
                                 report["workloads"]):
        step["device"] = report.get("device", "")
        step["bench"] = found
        step["seconds"] = found["seconds"]["median"]
        kernels = found.get("device_seconds")
        if kernels:
            step["kernel_seconds"] = kernels["median"]
            least = peak_seconds(each["limits"], step["device"])
            step["peak_seconds"] = least
            step["peak_share"] = least and least / kernels["median"]
            rate = (found["read_limit"] or {}).get("median")
            step["copy_share"] = rate and (found["bytes"] / rate
                                           / kernels["median"])
    return steps


def time_torch(model, step, mode, python):
    status, said, besides = call(
        [python, "-B", os.path.join(HERE, "torch_step.py"),
         json.dumps(model["shape"]), step["workload"], mode], TORCH_SECONDS)
    try:
        found = json.loads(said.splitlines()[-1])
        return {**found, "runs": found["seconds"],
                "seconds": median(found["seconds"])}
    except (ValueError, IndexError, KeyError):
        return {"fault": f"exit status {status}: {besides.strip()[-400:]}"}


def find_torch(python, on_cpu):
    """The modes that this machine's torch can do."""
    status, said, _ = call([python, "-c", "import torch; "
                            "print(torch.cuda.is_available())"], 60)
    if status != 0:
        return ()
    return MODES if said.strip() == "True" else ("eager",) if on_cpu else ()


def run_all(arguments, bundle):
    report = Report(arguments.out, bundle)
    end = time.monotonic() + arguments.limit
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(run_test, bundle["tiny"]):
            report.found["self_tests"].append(result)
            print(f"{result['name']}: {result['status']}", flush=True)
            report.write()
    modes = [] if arguments.no_torch else [
        mode for mode in find_torch(arguments.python, arguments.torch_on_cpu)
        if mode in arguments.modes]
    for model in bundle["large"]:
        if time.monotonic() > end:
            print(f"{model['name']}: not run, beyond --limit")
            continue
        print(f"{model['name']}: tfc-bench", flush=True)
        steps = time_model(model, arguments.repeats)
        report.found["steps"] += steps
        report.write()
        for step in steps:
            for mode in modes if model["shape"].get("torch", True) else ():
                if time.monotonic() < end:
                    print(f"{model['name']} {step['workload']}: torch {mode}",
                          flush=True)
                    step["torch"][mode] = time_torch(model, step, mode,
                                                     arguments.python)
                    report.write()
    report.write()
    return report


def main():
    parser = argparse.ArgumentParser(
        description="tests and times tfc on this machine's GPU")
    parser.add_argument("--out", default=os.path.join(HERE, "results"),
                        help="where report.txt and report.json go")
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS",
                        help="no model begins later than this (default 300)")
    parser.add_argument("--jobs", type=int, default=4,
                        help="tests at a time (default 4)")
    parser.add_argument("--repeats", type=int, default=20,
                        help="of a step, at most (default 20)")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--modes", type=lambda text: text.split(","),
                        default=list(MODES), help="of torch: " +
                        ",".join(MODES))
    parser.add_argument("--torch-on-cpu", action="store_true",
                        help="torch without a GPU, to try the bundle")
    parser.add_argument("--python", default=sys.executable,
                        help="the python3 that has torch")
    arguments = parser.parse_args()
    with open(os.path.join(HERE, "bundle.json"), encoding="utf-8") as stream:
        bundle = json.load(stream)
    report = run_all(arguments, bundle)
    print(report.table())
    print(f"\n{os.path.join(arguments.out, 'report.json')} has all of it")
    tests = report.found["self_tests"]
    faults = [step for step in report.found["steps"] if "fault" in step]
    return 1 if faults or any(t["status"] != "ok" for t in tests) else 0


if __name__ == "__main__":
    sys.exit(main())
