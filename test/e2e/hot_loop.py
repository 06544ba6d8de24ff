# The hot loops of compiled functions: the innermost loops with the most fused
# multiply-adds, counted. One line a function whose op matches, in the order of
# the library, or more where its loops differ; with --all, one for each innermost
# loop that multiplies:
#   hot_loop.py [--all] [--model CPU] LIBRARY PATTERN
#   decoder.layers.attn.q: zmm: 24 sums, 96 multiply-adds, 12 loads, ...
# With --model, of aarch64, also the share of its peak, by LLVM's estimate.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import re
import shutil
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)")
COMMENT = re.compile(r"\s+(#\s|//).*")
JUMP = re.compile(r"j|b\.|cbn?z$|tbn?z$")
# At the end of a jump's operands: its target.
TARGET = re.compile(r"(?:^|, )(?:0x)?([0-9a-f]+)(?: <|$)")

# Of a loop: requests, its end, and what fills gaps.
NO_WORK = re.compile("prefetch|prfm|cmp|test|j|b\\.|cb|nop")
# Multiply-adds of vectors that a CPU begins in a cycle.
UNITS = {"neoverse-n1": 2, "neoverse-n2": 2, "neoverse-v1": 4,
         "neoverse-v2": 4}


def tool(plain):
    """LLVM's, by the name that it has where it comes from a package, too."""
    for name in (plain, plain + "-22"):
        if shutil.which(name):
            return name
    sys.exit(f"hot_loop.py: expected {plain} or {plain}-22 in PATH (the "
             "package llvm-22 has it), got neither")


def read_functions(library):
    """name -> [(address, mnemonic, operands)]"""
    text = subprocess.run(
        [tool("llvm-objdump"), "--disassemble", "--no-show-raw-insn", library],
        capture_output=True, text=True, check=True).stdout
    functions = {}
    for line in text.splitlines():
        if match := FUNCTION.match(line):
            instructions = functions[match[1]] = []
        elif match := INSTRUCTION.match(line):
            instructions.append((int(match[1], 16), match[2],
                                 COMMENT.sub("", match[3]).strip()))
    return functions


def innermost_loops(instructions):
    """Between the target of a jump backward and the jump, both included, where
    nothing else is such a loop."""
    spans = set()
    for address, mnemonic, operands in instructions:
        if JUMP.match(mnemonic) and (match := TARGET.search(operands)):
            if instructions[0][0] <= int(match[1], 16) <= address:
                spans.add((int(match[1], 16), address))
    for first, last in spans:
        if not any(first <= f and l <= last for f, l in spans - {(first, last)}):
            yield [i for i in instructions if first <= i[0] <= last]


def is_multiply_add(instruction):
    return bool(re.match(r"vfn?m(add|sub)\d+ps$|vdpbf16ps$|vpdpbusd$|vpmaddwd$|"
                         r"tdp(bf16ps|busd)$|fmla$|sdot$|smmla$", instruction[1]))


def stack_pointers(instructions):
    """A frame's pointer is one only in functions that make it so."""
    if any("[sp" in operands for _, _, operands in instructions):
        return r"\[sp\b"
    has_frame = ("movq", "%rsp, %rbp") in [i[1:] for i in instructions]
    return r"\(%r[sb]p\b" if has_frame else r"\(%rsp\b"


def is_arm(operands, mnemonic):
    """Whether it is an instruction of aarch64."""
    return "%" not in operands and not mnemonic.startswith(("j", "nop"))


def count_arm(mnemonic, operands, on_stack, numbers, sums, vectors):
    """The same of an instruction of aarch64."""
    registers = re.findall(r"\b[vqds](\d+)\b", operands)
    is_load = mnemonic.startswith("ld")
    numbers["stack"] += bool(re.search(on_stack, operands))
    numbers["broadcasts"] += mnemonic in ("ld1r", "dup")
    if is_multiply_add((0, mnemonic)):
        numbers["multiply-adds"] += 1
        sums.add(registers[0])
        vectors.add("neon")
    elif registers and mnemonic not in ("ld1r", "dup"):
        is_pair = mnemonic == "ldp"
        numbers["loads" if is_load else "other"] += 1 + is_pair
    elif not registers:
        numbers["integers"] += not NO_WORK.match(mnemonic)


def share_of_peak(loop, cpu):
    """Of multiply-adds, by LLVM's model of a CPU, which takes all data to be in
    the first-level cache; in percent."""
    lines = ["hot:"]
    for _, mnemonic, operands in loop:
        if JUMP.match(mnemonic):
            operands = re.sub(r"0x[0-9a-f]+( <.*>)?$", "hot", operands)
        lines.append(f"  {mnemonic} {operands}")
    rounds = 200
    told = subprocess.run(
        [tool("llvm-mca"), "-mtriple=aarch64-linux-gnu", f"-mcpu={cpu}",
         f"-iterations={rounds}"], input="\n".join(lines) + "\n",
        capture_output=True, text=True, check=True).stdout
    cycles = int(re.search(r"Total Cycles: *(\d+)", told)[1]) / rounds
    work = sum(map(is_multiply_add, loop))
    return 100 * work / UNITS[cpu] / cycles


def count(loop, on_stack):
    """The loop's numbers, as a line of text. Sums are the registers that
    multiply-adds add to; broadcasts are instructions and operands; other is what
    else touches a vector; stack, what reads or writes memory on the stack;
    integers, what is left but for requests and the loop's end."""
    sums, vectors = set(), set()
    numbers = dict.fromkeys(["multiply-adds", "loads", "broadcasts", "other",
                             "stack", "integers"], 0)
    for instruction in loop:
        _, mnemonic, operands = instruction
        registers = re.findall(r"%([xyzt]mm\d+)", operands)
        if is_arm(operands, mnemonic):
            count_arm(mnemonic, operands, on_stack, numbers, sums, vectors)
            continue
        is_load = "(" in operands.rsplit(",", 1)[0]
        numbers["stack"] += bool(re.search(on_stack, operands))
        numbers["broadcasts"] += "broadcast" in mnemonic or "{1to" in operands
        if is_multiply_add(instruction):
            numbers["multiply-adds"] += 1
            sums.add(registers[-1])
            vectors.add(registers[-1][:3])
            numbers["loads"] += is_load and "{1to" not in operands
        elif registers and "broadcast" not in mnemonic:
            is_move = mnemonic.startswith(("vmov", "tileload")) and is_load
            numbers["loads" if is_move else "other"] += 1
        elif not registers:
            numbers["integers"] += not NO_WORK.match(mnemonic)
    return (f"{'+'.join(sorted(vectors))}: {len(sums)} sums, " +
            ", ".join(f"{number} {what}" for what, number in numbers.items()))


def describe(loop, instructions, cpu):
    """The loop's line, with a model's estimate where a CPU is given."""
    line = count(loop, stack_pointers(instructions))
    if not cpu:
        return line
    return f"{line}, {share_of_peak(loop, cpu):.0f} % of {cpu}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", dest="every")
    parser.add_argument("--model", choices=sorted(UNITS))
    parser.add_argument("library")
    parser.add_argument("pattern")
    options = parser.parse_args()
    library, pattern, every = options.library, options.pattern, options.every
    for function, instructions in read_functions(library).items():
        op = function.partition(".")[2]
        if not re.search(pattern, op):
            continue
        loops = list(innermost_loops(instructions)) or [[]]
        works = [sum(map(is_multiply_add, loop)) for loop in loops]
        shown = [loop for loop, work in zip(loops, works)
                 if (work if every else work == max(works))]
        for line in sorted({describe(loop, instructions, options.model)
                            for loop in shown}):
            print(f"{op}: {line}")


if __name__ == "__main__":
    main()
