#!/usr/bin/env python3
# Says in wheels' names which systems they run on: the newest version of glibc
# that their programs and libraries ask for, as manylinux_2_N (PEP 600). What
# needs another library than glibc's and libgcc is refused.
#   tag_wheels.py WHEEL...
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# Every system of that policy has them.
ALLOWED = ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2",
           "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
           "ld-linux-aarch64.so.1")
LINUX = re.compile(r"-linux_(x86_64|aarch64)\.whl$")
# Of ELF's kinds of machine, those of the systems above.
MACHINES = {62: "x86_64", 183: "aarch64"}


def newest_glibc(name, data, machine):
    """The minor version of glibc 2 that an ELF file of `machine` asks for."""
    kind = MACHINES.get(int.from_bytes(data[18:20], "little"), "another machine")
    if kind != machine:
        sys.exit(f"{name}: expected a file for {machine}, as the wheel says, got "
                 f"one for {kind}")
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        # Unlike objdump, whatever the machine.
        said = subprocess.run(["readelf", "-dVW", file.name], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(\S+)\]", said)
    foreign = set(needed) - set(ALLOWED)
    if foreign:
        sys.exit(f"{name}: expected to need glibc and libgcc alone, got "
                 f"{', '.join(sorted(foreign))}")
    return max((int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", said)),
               default=0)


def record_of(data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={digest.rstrip(b'=').decode()},{len(data)}"


def tag(path):
    """Writes the wheel under its new name, removes it under the old one."""
    with zipfile.ZipFile(path) as wheel:
        files = [(entry, wheel.read(entry)) for entry in wheel.infolist()]
    found = LINUX.search(path)
    needed = found and max(
        (newest_glibc(f"{path}: {entry.filename}", data, found[1])
         for entry, data in files if data[:4] == b"\x7fELF"), default=0)
    if not needed:
        sys.exit(f"{path}: expected a wheel with programs for linux_x86_64 or "
                 "linux_aarch64, got another one")
    system = f"manylinux_2_{needed}_{found[1]}"
    changed = {}
    for entry, data in files:
        if entry.filename.endswith(".dist-info/WHEEL"):
            made = data.replace(f"linux_{found[1]}".encode(), system.encode())
            changed[entry.filename] = made
    made = f"{path[:found.start()]}-{system}.whl"
    with zipfile.ZipFile(made + ".tmp", "w", zipfile.ZIP_DEFLATED) as wheel:
        for entry, data in files:
            data = changed.get(entry.filename, data)
            if entry.filename.endswith(".dist-info/RECORD"):
                lines = data.decode().splitlines()
                data = "\n".join(
                    f"{name},{record_of(changed[name])}" if name in changed
                    else line for line in lines
                    for name in [line.split(",")[0]]).encode() + b"\n"
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    os.replace(made + ".tmp", made)
    os.remove(path)
    print(made)


def main():
    parser = argparse.ArgumentParser(description="names wheels by their glibc")
    parser.add_argument("wheels", nargs="+", metavar="WHEEL")
    for path in parser.parse_args().wheels:
        tag(path)


if __name__ == "__main__":
    main()
