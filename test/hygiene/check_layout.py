#!/usr/bin/env python3
# Checks the structure of the tree: who includes whom, what belongs to a pass
# and to an op, head comments, links. Prints one line a fault.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import re
import sys

FOLDERS = (".ci", "benchmarks", "cmake", "compiler", "dialect", "docs",
           "examples", "python", "runtime", "test")
SOURCES = (".h", ".cpp", ".c", ".td", ".py", ".sh", ".map", ".mlir", ".test",
           )
TEXTS = SOURCES + (".md", ".txt", ".json", ".in")
ROOT_FILES = (".clang-format", ".clang-tidy", ".gitignore", "LICENSE")
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"

# Folder -> the prefixes of include paths it may name besides its own. The
# longest folder that holds a file decides. "mlir" stands for MLIR and LLVM.
LAYERS = {
    "dialect": ["mlir"],
    "compiler/spec": ["nlohmann/", "compiler/support/HashText.h",
                      "runtime/src/QuoteText.h"],
    "compiler/huggingface": ["compiler/spec/", "runtime/src/files/Safetensors.h",
                             "runtime/src/files/gguf/GgufFile.h",
                             "runtime/src/files/quantized/Quantized.h"],
    "compiler/frontend": ["compiler/spec/", "dialect/", "mlir"],
    "compiler/reference": ["dialect/", "mlir"],
    "compiler/cost": ["dialect/", "mlir"],
    "compiler/support": ["tfc/abi.h", "mlir"],
    "compiler/fusion": ["dialect/", "compiler/support/",
                        "compiler/target/TargetInfo.h", "mlir"],
    "compiler/lowering": ["dialect/", "compiler/support/",
                          "compiler/kernel/Quantize.h",
                          "compiler/target/TargetInfo.h", "mlir"],
    "compiler/tiling": ["dialect/", "compiler/support/",
                        "compiler/target/TargetInfo.h", "mlir"],
    # The kernels read the tables of the step.
    "compiler/kernel": ["dialect/", "compiler/support/", "tfc/abi.h", "mlir"],
    "compiler/host": ["dialect/", "compiler/kernel/", "compiler/support/",
                      "tfc/abi.h", "mlir"],
    "compiler/cpu": ["dialect/", "compiler/support/",
                     "compiler/kernel/",
                     "compiler/target/TargetInfo.h", "tfc/abi.h", "mlir"],
    "compiler/gpu": ["dialect/", "compiler/support/",
                     "compiler/kernel/", "compiler/target/", "tfc/abi.h", "mlir"],
    # What a level's code may use is what the runtime asks a machine for.
    "compiler/target": ["runtime/src/load/Aarch64Features.h",
                        "runtime/src/load/Machines.h",
                        "runtime/src/load/Riscv64Features.h",
                        "runtime/src/load/X86Levels.h", "tfc/abi.h", "mlir"],
    "compiler/emit": ["dialect/", "compiler/support/", "compiler/target/",
                      "tfc/abi.h", "mlir"],
    "compiler/pipeline": ["dialect/", "compiler/fusion/", "compiler/lowering/",
                          "compiler/tiling/", "compiler/kernel/",
                          "compiler/host/", "compiler/cpu/",
                          "compiler/gpu/", "compiler/emit/", "compiler/target/", "mlir"],
    # A library is run by the runtime, whose steps it looks into.
    "compiler/verify": ["compiler/reference/", "dialect/", "runtime/src/",
                        "mlir"],
    # What a model reads is computed by the interpreter, and files are written
    # as the runtime has them.
    "compiler/quantize": ["compiler/reference/", "compiler/verify/", "dialect/",
                          "nlohmann/", "runtime/src/", "mlir"],
    "compiler/driver": ["compiler/pipeline/", "compiler/frontend/",
                        "compiler/cost/",
                        "compiler/spec/", "compiler/huggingface/",
                        "compiler/target/", "compiler/emit/",
                        "compiler/verify/", "compiler/quantize/", "dialect/",
                        # What tile was chosen, and from which.
                        "compiler/tiling/Strategy.h",
                        "tfc/abi.h",
                        "runtime/src/files/Safetensors.h",
                        "runtime/src/files/gguf/GgufFile.h",
                        "runtime/src/load/Module.h",
                        "runtime/text/WriteTokenizer.h",
                        # tfc run asks first what tfc-run would ask.
                        "runtime/tools/CommandLine.h",
                        "runtime/tools/Completion.h",
                        "runtime/tools/FormatText.h",
                        "runtime/tools/MachineReport.h",
                        "runtime/tools/Page.h",
                        "runtime/tools/Progress.h",
                        # Texts that a model is quantised by.
                        "runtime/tools/TextTokens.h",
                        "runtime/tools/TextRun.h",
                        "compiler/support/HashText.h", "mlir"],
    "compiler/tools": ["compiler/driver/", "compiler/pipeline/",
                       "compiler/emit/LinkLibrary.h",
                       "runtime/tools/LostFiles.h", "mlir"],
    "runtime": ["tfc/", "nlohmann/"],
    "examples": ["tfc/runtime.h", "tfc/text.h"],
    # The compiler as a library, of which it may know what docs/extending.md
    # names.
    "examples/out-of-tree": ["compiler/driver/CommandLine.h",
                             "compiler/pipeline/Extension.h",
                             "compiler/spec/family/FamilyTable.h",
                             "dialect/TransformerDialect.h", "mlir"],
    # A driver of its own: it knows neither the runtime nor the compiler.
    "test/emulator": [],
    "test/runtime": ["runtime/", "tfc/", "nlohmann/"],
    "test/fuzz": ["runtime/src/", "runtime/text/", "tfc/runtime.h", "compiler/spec/",
                  "compiler/huggingface/", "nlohmann/"],
    "test/unit/text": ["runtime/", "tfc/", "nlohmann/"],
    "test/unit/spec": ["compiler/spec/"],
    "test/unit/huggingface": ["compiler/huggingface/", "compiler/spec/",
                              "runtime/src/", "nlohmann/"],
}
OURS = ("compiler/", "dialect/", "runtime/", "tfc/", "examples/", "test/")
MLIR = ("mlir/", "mlir-c/", "llvm/", "llvm-c/", "lld/")


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as stream:
        return stream.read()


def list_files(root):
    """The project's text files, relative to root; nothing built or fetched."""
    found = [name for name in sorted(os.listdir(root))
             if name in ROOT_FILES or name.endswith(TEXTS)]
    for top in FOLDERS:
        for folder, names, files in os.walk(os.path.join(root, top)):
            names[:] = sorted(n for n in names if n != "__pycache__")
            relative = os.path.relpath(folder, root)
            found += [os.path.join(relative, name) for name in sorted(files)
                      if name.endswith(TEXTS) or top == ".ci"]
    return found


def layer_of(path):
    holders = [f for f in LAYERS if path.startswith(f + "/")]
    return max(holders, key=len, default=None)


def check_includes(root, files):
    """The table of layers, read off the include lines."""
    pattern = re.compile(r'^\s*#?\s*include\s+(["<])([^">]+)[">]', re.M)
    for path in files:
        layer = layer_of(path)
        if layer is None or not path.endswith((".h", ".cpp", ".c", ".td")):
            continue
        own = layer if layer != "examples" else "tfc/runtime.h"
        for match in pattern.finditer(read(root, path)):
            quote, name = match.groups()
            line = match.string.count("\n", 0, match.start(2)) + 1
            where = f"{path}:{line}"
            known = name.startswith(OURS + MLIR + ("nlohmann/",))
            if not known:
                if quote == '"':
                    yield (f"{where}: expected an include path from the root "
                           f'(its first word is the layer), got "{name}"')
                continue
            allowed = [own + "/"] + LAYERS[layer]
            group = "mlir" if name.startswith(MLIR) else name
            if not any(group.startswith(prefix) for prefix in allowed):
                yield (f"{where}: expected {layer} to include its own folder "
                       f'and {", ".join(LAYERS[layer])}, got "{name}"')


def words_to_class(flag):
    return "".join(word.capitalize() for word in flag.split("-"))


def check_passes(root, files):
    """A pass has a file of the same words, a lit test and a description."""
    pattern = re.compile(r'^def (\w+) : Pass<"([^"]+)"(.*?)(?=^def |\Z)',
                         re.M | re.S)
    for path in files:
        if not path.endswith("/Passes.td"):
            continue
        folder = os.path.dirname(path)
        for name, flag, body in pattern.findall(read(root, path)):
            if not re.fullmatch(r"tfc(-[a-z]+)+", flag):
                yield (f"{path}: expected a flag of the form tfc-verb-object, "
                       f"got {flag}")
                continue
            words = flag[len("tfc-"):]
            if name != words_to_class(words) + "Pass":
                yield (f"{path}: expected class {words_to_class(words)}Pass "
                       f"for {flag} (the same words), got {name}")
            for part in ("summary", "description"):
                if f"let {part} =" not in body:
                    yield f"{path}: expected a {part} of {flag}, got none"
            stage = os.path.basename(folder)
            source = f"{folder}/{words_to_class(words)}.cpp"
            if "let options" in body and "let statistics" in body and \
                    source in files and \
                    "clearStatistics(*this);" not in read(root, source):
                yield (f"{source}: expected clearStatistics(*this) (a pass with "
                       "options begins with what memory held), got none")
            for wanted in (source,
                           f"test/compiler/{stage}/{words}.mlir"):
                if wanted not in files:
                    yield f"{path}: expected {wanted} for {flag}, got no file"


def list_ops(root, files):
    """(file, mnemonic, base class, body) of every op."""
    pattern = re.compile(
        r'^def Transformer_\w+Op\s*:\s*(Transformer_\w+)<\s*"(\w+)"'
        r"(.*?)(?=^def |\Z)", re.M | re.S)
    for path in files:
        if path.startswith("dialect/") and path.endswith(".td"):
            for base, mnemonic, body in pattern.findall(read(root, path)):
                yield path, mnemonic, base, body


def check_ops(root, files):
    """An op has a round trip, a constraint a test that breaks it."""
    tests = [f for f in files if f.startswith("test/dialect/")]
    round_trips = "".join(read(root, f) for f in tests if f.endswith("-ops.mlir"))
    cases = {(op, label): path for path in tests for op, label in
             re.findall(r"@(\w+?)_c(\d+)_\w+", read(root, path))}
    ops = list(list_ops(root, files))
    if not ops:
        yield "dialect: expected ops in its .td files, got none"
    for path, mnemonic, _, body in ops:
        if "let summary =" not in body:
            yield f"{path}: expected a summary of {mnemonic}, got none"
        if not re.search(rf"transformer\.{mnemonic}\b", round_trips):
            yield (f"{path}: expected transformer.{mnemonic} in a round trip "
                   "(test/dialect/*-ops.mlir), got none")
        labels = re.findall(r"^\s*\* C(\d+)\. ", body, re.M)
        for label in labels:
            if (mnemonic, label) not in cases:
                yield (f"{path}: expected a test @{mnemonic}_c{label}_<what> "
                       f"in test/dialect (C{label} of {mnemonic}), got none")
        for op, label in [c for c in cases if c[0] == mnemonic]:
            if label not in labels:
                yield (f"{cases[op, label]}: expected a constraint that "
                       f"{mnemonic} has, got C{label}")


def check_numerics(root, files):
    """What an op rounds, and in which order it adds, is in the table."""
    path = "docs/numerics.md"
    names = set(re.findall(r"`(\w+)`", read(root, path)))
    for _, mnemonic, _, _ in list_ops(root, files):
        if mnemonic not in names:
            yield f"{path}: expected a row for `{mnemonic}`, got none"


def check_names_no_op(root, files):
    """Tiling and fusion go through interfaces, not through structured ops."""
    structured = [m for _, m, base, _ in list_ops(root, files)
                  if base == "Transformer_StructuredOp"]
    names = "|".join([f"transformer\\.{m}" for m in structured] +
                     ["".join(w.capitalize() for w in m.split("_")) + "Op"
                      for m in structured])
    for path in files:
        if path.startswith(("compiler/tiling/", "compiler/fusion/")) and \
                path.endswith((".h", ".cpp", ".td")):
            for name in re.findall(rf"\b(?:{names})\b", read(root, path)):
                yield (f"{path}: expected no structured op (an interface "
                       f"instead), got {name}")


def check_attention_terms(root, files):
    """What attention may be given, its kernels ask AttentionScore for."""
    body = next((body for _, mnemonic, _, body in list_ops(root, files)
                 if mnemonic == "paged_attention"), "")
    terms = re.findall(r"\bOptional(?:Attr)?<[^$]*:\$(\w+)",
                       body.partition("let results =")[0])
    getters = ["get" + "".join(w.capitalize() for w in term.split("_"))
               for term in terms]
    if not getters:
        yield "dialect: expected optional terms of paged_attention, got none"
        return
    for path in files:
        if re.match(r"compiler/(cpu|gpu/attention|kernel)/.*(?<!AttentionScore)"
                    r"\.(h|cpp)$", path):
            for name in re.findall(rf"\bop\.({'|'.join(getters)})\(",
                                   read(root, path)):
                yield (f"{path}: expected no term of attention "
                       f"(compiler/kernel/AttentionScore.h has them), got "
                       f"{name}")


def check_heads(root, files):
    """Head comment and licence line."""
    for path in files:
        if path.endswith(SOURCES) or path.startswith(".ci/"):
            head = read(root, path).splitlines()[:8]
            if SPDX not in (line.strip("/*#; ") for line in head):
                yield f"{path}: expected the SPDX line in its head, got none"


def check_text(root, files):
    """No path of somebody's machine, no unfinished business."""
    patterns = {
        r"(?<![\w.}/])/(?:work|home|root|mnt|Users)/\w": "a path that exists "
        "on every machine",
        r"\b(?:TO[D]O|FIXM[E]|XX[X])\b": "finished work",
    }
    for path in files:
        text = read(root, path)
        for pattern, wanted in patterns.items():
            for match in re.finditer(pattern, text):
                line = text.count("\n", 0, match.start()) + 1
                yield (f"{path}:{line}: expected {wanted}, got "
                       f"{match.group()}")


def check_built(root, files):
    """A source that no CMakeLists.txt names is dead."""
    for path in files:
        if path.endswith((".cpp", ".c")):
            folder, name = os.path.split(path)
            lists = os.path.join(folder, "CMakeLists.txt")
            stem = os.path.splitext(name)[0]
            if lists not in files or \
                    not re.search(rf"\b{stem}\b", read(root, lists)):
                yield (f"{path}: expected its name in {lists}, got a file "
                       "that is not built")


def check_links(root, files):
    """Relative links of the documents lead somewhere."""
    for path in files:
        if not path.endswith(".md"):
            continue
        text = re.sub(r"^```.*?^```", "", read(root, path), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:|#", target):
                continue
            place = os.path.normpath(os.path.join(
                root, os.path.dirname(path), target.split("#")[0]))
            if not os.path.exists(place):
                yield f"{path}: expected a link to a file, got {target}"


def check_rationale(root, files):
    """Decisions are numbered from 1 on, each number once, in name and title."""
    numbers = []
    for path in files:
        match = re.fullmatch(r"docs/rationale/(\d{4})-[a-z0-9-]+\.md", path)
        if match:
            numbers.append(int(match[1]))
            if not read(root, path).startswith(f"# {match[1]}: "):
                yield f"{path}: expected the title to begin with {match[1]}"
    for number in range(1, max(numbers, default=0) + 1):
        if numbers.count(number) != 1:
            yield (f"docs/rationale: expected one decision {number:04}, got "
                   f"{numbers.count(number)}")


def list_types(text):
    """(namespace, name, line) of every type that `text` defines with external
    linkage; the namespace closes with clang-format's comment."""
    spaces = []
    for number, line in enumerate(text.splitlines(), 1):
        opened = re.match(r"(?:inline )?namespace\b\s*([\w:]*)\s*\{", line)
        if opened:
            spaces.append(opened.group(1))
        elif re.match(r"\}\s*// (?:end )?(?:anonymous )?namespace", line) and \
                spaces:
            spaces.pop()
        # "" is an unnamed namespace: what is in it is the file's own.
        found = re.match(r"(?:template <.+> )?(?:struct|class|union|enum class|"
                         r"enum) (?:\[\[\w+\]\] )?(\w+)(?:$|[ :](?!:))"
                         r"(?!.*[;(]\s*$)", line)
        if found and "" not in spaces:
            yield "::".join(spaces), found.group(1), number


def check_types(root, files):
    """One definition a name: two types of one name in one program are one to
    the linker, which keeps the functions of either."""
    for top in (("compiler/", "dialect/"), ("runtime/",)):
        known = {}
        for path in files:
            if not path.startswith(top) or not path.endswith((".h", ".cpp")):
                continue
            for space, name, line in list_types(read(root, path)):
                first = known.setdefault((space, name), f"{path}:{line}")
                if first != f"{path}:{line}":
                    yield (f"{path}:{line}: expected one definition of "
                           f"{space}::{name} (or an unnamed namespace around "
                           f"it), got another in {first}")


CHECKS = (check_includes, check_passes, check_ops, check_numerics,
          check_names_no_op, check_attention_terms, check_heads, check_text, check_built, check_links, check_rationale,
          check_types)


def find_faults(root):
    files = list_files(root)
    return [fault for check in CHECKS for fault in check(root, files)]


def main():
    parser = argparse.ArgumentParser(description="checks the tree's structure")
    parser.add_argument("--root", default=os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    faults = find_faults(os.path.abspath(parser.parse_args().root))
    for fault in faults:
        print(f"error: {fault}")
    print(f"layout: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
