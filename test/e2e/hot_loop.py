# The hot loops of compiled functions: the innermost loops with the most fused
# multiply-adds, counted. One line a function whose op matches, in the order of
# the library, or more where its loops differ; with --all, one for each innermost
# loop that multiplies:
#   hot_loop.py [--all] LIBRARY PATTERN
#   decoder.layers.attn.q: zmm: 24 sums, 96 multiply-adds, 12 loads, ...
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import shutil
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*([^#]*)")
# At the end of a jump's operand: its target.
TARGET = re.compile(r"^(?:0x)?([0-9a-f]+)\b")

# Of a loop: requests, its end, and what fills gaps.
NO_WORK = re.compile("prefetch|cmp|test|j|nop")


def disassembler():
    """LLVM's, by the name that it has where it comes from a package, too."""
    for name in ("llvm-objdump", "llvm-objdump-22"):
        if shutil.which(name):
            return name
    sys.exit("hot_loop.py: expected llvm-objdump or llvm-objdump-22 in PATH "
             "(the package llvm-22 has it), got neither")


def read_functions(library):
    """name -> [(address, mnemonic, operands)]"""
    text = subprocess.run(
        [disassembler(), "--disassemble", "--no-show-raw-insn", library],
        capture_output=True, text=True, check=True).stdout
    functions = {}
    for line in text.splitlines():
        if match := FUNCTION.match(line):
            instructions = functions[match[1]] = []
        elif match := INSTRUCTION.match(line):
            instructions.append((int(match[1], 16), match[2], match[3].strip()))
    return functions


def innermost_loops(instructions):
    """Between the target of a jump backward and the jump, both included, where
    nothing else is such a loop."""
    spans = set()
    for address, mnemonic, operands in instructions:
        if mnemonic.startswith("j") and (match := TARGET.match(operands)):
            if instructions[0][0] <= int(match[1], 16) <= address:
                spans.add((int(match[1], 16), address))
    for first, last in spans:
        if not any(first <= f and l <= last for f, l in spans - {(first, last)}):
            yield [i for i in instructions if first <= i[0] <= last]


def is_multiply_add(instruction):
    return bool(re.match(r"vfn?m(add|sub)\d+ps$|vdpbf16ps$|vpdpbusd$|vpmaddwd$|"
                         r"tdp(bf16ps|busd)$", instruction[1]))


def stack_pointers(instructions):
    """A frame's pointer is one only in functions that make it so."""
    has_frame = ("movq", "%rsp, %rbp") in [i[1:] for i in instructions]
    return r"\(%r[sb]p\b" if has_frame else r"\(%rsp\b"


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


def main():
    every = "--all" in sys.argv
    library, pattern = [a for a in sys.argv[1:] if a != "--all"]
    for function, instructions in read_functions(library).items():
        op = function.partition(".")[2]
        if not re.search(pattern, op):
            continue
        loops = list(innermost_loops(instructions)) or [[]]
        works = [sum(map(is_multiply_add, loop)) for loop in loops]
        for line in sorted({count(loop, stack_pointers(instructions))
                            for loop, work in zip(loops, works)
                            if (work if every else work == max(works))}):
            print(f"{op}: {line}")


if __name__ == "__main__":
    main()
