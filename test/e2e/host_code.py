# The host's code of an entry, as tfc-opt prints it behind tfc-outline-threads, run
# in Python: which kernels it launches, with which arguments.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re

MASK = (1 << 64) - 1
BINARY = {
    "addi": lambda x, y: x + y, "subi": lambda x, y: x - y,
    "muli": lambda x, y: x * y, "ori": lambda x, y: x | y,
    "andi": lambda x, y: x & y, "xori": lambda x, y: x ^ y,
    "minsi": min, "maxsi": max,
    "remui": lambda x, y: (x & MASK) % (y & MASK),
    "divui": lambda x, y: (x & MASK) // (y & MASK),
    "ceildivui": lambda x, y: -(-x // y)}
COMPARED = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y,
            "slt": lambda x, y: x < y, "sle": lambda x, y: x <= y,
            "sgt": lambda x, y: x > y, "sge": lambda x, y: x >= y}
SIZES = {"bf16": 2, "f16": 2, "f32": 4}
# What only changes the type of its operand.
SAME = ("arith.index_cast", "llvm.inttoptr",
        "memref.extract_aligned_pointer_as_index")


class Launch:
    def __init__(self, kernel, blocks, arguments):
        self.kernel, self.blocks, self.arguments = kernel, blocks, arguments


class HostCode:
    """An entry of `text`, a module. Its arguments are numbers, buffers being
    addresses; `fields` are those of the step, by offset; `allocate` gives the
    address of so many bytes."""

    def __init__(self, text, entry, arguments, fields, allocate):
        lines = [line.strip() for line in text.split("\n")]
        begin = next(i for i, line in enumerate(lines)
                     if line.startswith(f"func.func @{entry}("))
        self.values = {f"%arg{i}": value for i, value in enumerate(arguments)}
        self.fields, self.allocate = fields, allocate
        self.launches = []
        self.run(lines, begin + 1)

    def run(self, lines, at, is_taken=True):
        """Up to the end of a region, and its place."""
        while not lines[at].startswith("}"):
            line = lines[at]
            branch = re.match(r"scf\.if (%\w+) \{", line)
            if branch:
                taken = is_taken and self.values.get(branch.group(1))
                at = self.run(lines, at + 1, taken)
            elif is_taken:
                self.step(line)
            at += 1
        return at

    def value(self, name):
        return self.values[name]

    def step(self, line):
        launch = re.match(r"gpu\.launch_func +@kernels::@(\w+) blocks in "
                          r"\((.*?)\).*args\((.*)\)", line)
        if launch:
            blocks = tuple(self.value(name.strip())
                           for name in launch.group(2).split(","))
            arguments = [(self.value(name), kind) for name, kind in
                         re.findall(r"(%\w+) : ([!\w.]+)", launch.group(3))]
            self.launches.append(Launch(launch.group(1), blocks, arguments))
            return
        if line == "return":
            return
        result, op, rest = re.match(r"(%\w+) = ([\w.]+)(.*)", line).groups()
        self.values[result] = self.compute(op, rest)

    def compute(self, op, rest):
        names = re.findall(r"%\w+", rest)
        if op == "arith.constant":
            number = rest.split(" :")[0].strip()
            return number == "true" if number in ("true", "false") else (
                float(number) if re.search(r"[.E]", number) else int(number))
        if op in SAME:
            return self.value(names[0])
        if op == "llvm.getelementptr":
            return int(re.search(r"\[(\d+)\]", rest).group(1))
        if op == "llvm.load":
            return self.fields[self.value(names[0])]
        if op == "memref.alloc":
            sizes, element = re.search(r"memref<([?\dx]+)x(\w+)>",
                                       rest).groups()
            size = SIZES[element] * self.value(names[0])
            for extent in sizes.split("x")[1:]:
                size *= int(extent)
            return self.allocate(size)
        if op == "arith.cmpi":
            return COMPARED[rest.split(",")[0].strip()](*map(self.value, names))
        if op == "arith.select":
            condition, one, other = map(self.value, names)
            return one if condition else other
        return BINARY[op.removeprefix("arith.")](*map(self.value, names))
