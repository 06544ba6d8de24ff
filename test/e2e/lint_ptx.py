# Reads the PTX in a library and finds what no kernel may have: calls, local
# memory, arithmetic that rounds otherwise than IEEE 754 says, barriers that some
# threads may pass by, waits that are missing.
#   lint_ptx.py FILE...     a library or a text; prints a line a fault
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import sys

# An instruction that matches, and why there must be none.
FORBIDDEN = (
    (r"\bcall\b", "a call: kernels link with nothing"),
    (r"__nv_", "NVIDIA's library of mathematics, which is not there"),
    (r"\.local\b", "local memory: values of a kernel belong into registers"),
    (r"^(?:@\S+ )?(?:bar|barrier)\.(?!warp)(?!sync\b|cta\.sync\b)",
     "a barrier other than bar.sync"),
    (r"^@\S+ (?:bar|barrier|shfl|vote)\.",
     "a meeting of threads that some of them pass by"),
    (r"\.(?:approx|ftz)\b", "arithmetic that does not round as IEEE 754 says"),
    (r"^(?:@\S+ )?(?:atom|red)\.\S*\.add\S*\.(?:f16|bf16|f32|f64)",
     "a sum whose order is left to chance"),
    (r"\b(?:shfl|vote)\.(?!sync)", "a meeting of threads without a mask"),
)
# An instruction, and what must be able to come after the last one in its kernel.
FOLLOWED = (
    (r"\bcp\.async\.c[ag]\.", r"\bcp\.async\.(?:commit_group|wait_all)\b"),
    (r"\bcp\.async\.commit_group\b", r"\bcp\.async\.wait_(?:group|all)\b"),
    (r"\bcp\.async\.wait_(?:group|all)\b", r"\bbar(?:rier)?\."),
    (r"\bwgmma\.mma_async\b", r"\bwgmma\.commit_group\b"),
    (r"\bwgmma\.commit_group\b", r"\bwgmma\.wait_group\b"),
)


def find_text(data):
    if data[:4] != b"\x7fELF":
        return data.decode()
    begin = data.index(b"\n.version ") + 1
    return data[begin:data.index(b"\0", begin)].decode()


def list_kernels(text):
    """(name, [(line number, instruction)], head) of every entry."""
    # Blocks within end with a brace of their own.
    pattern = re.compile(r"\.visible \.entry (\w+)\((.*?)\)(.*?)\{(.*?)"
                         r"^\}(?=\s*(?:// \.globl|\.visible|\Z))",
                         re.M | re.S)
    for match in pattern.finditer(text):
        first = text.count("\n", 0, match.start(4)) + 1
        body = [(first + i, line.strip())
                for i, line in enumerate(match.group(4).split("\n"))]
        yield match.group(1), body, match.group(3)


def find_reachable(lines, first):
    """The indices of what may run from line `first` on: blocks lie in any
    order."""
    labels = {line.split(":")[0]: i for i, (_, line) in enumerate(lines)
              if re.match(r"\$\w+:", line)}
    reached, waiting = set(), [first]
    while waiting:
        i = waiting.pop()
        if i in reached or i >= len(lines):
            continue
        reached.add(i)
        line = lines[i][1]
        jump = re.search(r"\bbra(?:\.uni)?\s+(\$\w+)", line)
        if jump:
            waiting.append(labels[jump.group(1)])
        if line.startswith("@") or not re.match(r"(?:bra|ret|exit)\b", line):
            waiting.append(i + 1)
    return reached


def find_faults(text):
    if not re.search(r"^\.version 8\.0$", text, re.M):
        yield "expected .version 8.0, which every driver since CUDA 12.0 takes"
    for match in re.finditer(r"^\.extern .func|^\.func", text, re.M):
        yield (f"line {text.count(chr(10), 0, match.start()) + 1}: expected "
               "kernels alone, got a function")
    for name, body, head in list_kernels(text):
        if not re.search(r"\.(?:max|req)ntid\b", head):
            yield (f"{name}: expected .maxntid or .reqntid, the threads of a "
                   "block, by which registers are shared out")
        lines = [(number, re.sub(r"//.*", "", line)) for number, line in body]
        for number, line in lines:
            for pattern, why in FORBIDDEN:
                if re.search(pattern, line):
                    yield f"line {number}: {name}: got {why}: {line}"
        for pattern, after in FOLLOWED:
            last = max((i for i, (_, line) in enumerate(lines)
                        if re.search(pattern, line)), default=None)
            if last is not None and not any(
                    re.search(after, lines[i][1])
                    for i in find_reachable(lines, last + 1)):
                yield (f"line {lines[last][0]}: {name}: expected {after} after "
                       f"{lines[last][1]}")


def main():
    count = 0
    for path in sys.argv[1:]:
        with open(path, "rb") as stream:
            text = find_text(stream.read())
        for fault in find_faults(text):
            print(f"{path}: {fault}")
            count += 1
        if not list(list_kernels(text)):
            print(f"{path}: expected kernels, got none")
            count += 1
    return 1 if count else 0


sys.exit(main())
