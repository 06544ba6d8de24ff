#!/usr/bin/env python3
# Shows that each check can fail: breaks a copy of the tree in one place and
# expects the one fault that this makes.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_docs
import check_format
import check_headers
import check_layout

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))


class Copy(unittest.TestCase):
    """The project's text files in a folder of their own."""

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="tfc-hygiene-")
        for path in check_layout.list_files(ROOT):
            target = os.path.join(cls.root, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, path), target)
        cls.before = set(check_layout.find_faults(cls.root))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    @contextlib.contextmanager
    def changed(self, path, edit):
        """The copy with one file edited (None: the file is removed or new)."""
        place = os.path.join(self.root, path)
        old = None
        if os.path.exists(place):
            with open(place, encoding="utf-8") as stream:
                old = stream.read()
        new = edit(old)
        self.assertNotEqual(old, new, f"the edit of {path} changes nothing")
        self.write(place, new)
        try:
            yield
        finally:
            self.write(place, old)

    def write(self, place, text):
        if text is None:
            os.remove(place)
            return
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as stream:
            stream.write(text)

    def expect(self, path, edit, *parts):
        """One new fault, with these parts in its message."""
        with self.changed(path, edit):
            faults = set(check_layout.find_faults(self.root)) - self.before
        self.assertEqual(len(faults), 1, faults)
        for part in parts:
            self.assertIn(part, *faults)


def behind_head(line):
    """Adds a line behind the file's head."""
    def edit(text):
        lines = text.splitlines(keepends=True)
        return "".join(lines[:2] + [line + "\n"] + lines[2:])
    return edit


def adding(text):
    return lambda old: (old or "") + text


def without(part):
    return lambda old: old.replace(part, "")


HEAD = f"// A file.\n// {check_layout.SPDX}\n"


class LayoutTest(Copy):
    def test_phase_includes_phase(self):
        self.expect("compiler/lowering/NormPatterns.cpp",
                    behind_head('#include "compiler/cpu/Passes.h"'),
                    "expected compiler/lowering to include",
                    'got "compiler/cpu/Passes.h"')

    def test_reader_includes_mlir(self):
        self.expect("compiler/spec/read/ReadSpec.cpp",
                    behind_head('#include "mlir/IR/Builders.h"'),
                    'got "mlir/IR/Builders.h"')

    def test_runtime_includes_compiler(self):
        self.expect("runtime/src/step/Batch.cpp",
                    behind_head('#include "compiler/spec/ModelSpec.h"'),
                    "expected runtime to include")

    def test_dialect_includes_pass(self):
        self.expect("dialect/NormOps.td",
                    behind_head('include "compiler/cpu/Passes.td"'),
                    "expected dialect to include")

    def test_example_includes_more(self):
        self.expect("examples/hello_terse.c",
                    behind_head('#include "tfc/abi.h"'),
                    "expected examples to include", 'got "tfc/abi.h"')

    def test_type_defined_twice(self):
        # In one library, and in two.
        for path in ("compiler/kernel/ExpandScalar.cpp",
                     "compiler/tiling/TileAndFuse.cpp"):
            self.expect(path, adding("namespace tfc {\nstruct WorkItem {\n"
                                     "  int other;\n};\n} // namespace tfc\n"),
                        "expected one definition of tfc::WorkItem",
                        "compiler/kernel/KernelBuilder.h")

    def test_type_of_the_file_itself(self):
        for begin, end in (("namespace {\n", "} // namespace\n"),
                           ("namespace other {\n", "} // namespace other\n")):
            with self.changed("compiler/kernel/ExpandScalar.cpp",
                              adding(begin + "struct WorkItem {\n};\n" + end)):
                faults = set(check_layout.find_faults(self.root))
            self.assertEqual(faults - self.before, set())

    def test_include_beside(self):
        self.expect("compiler/kernel/ExpandScalar.cpp",
                    behind_head('#include "StepFields.h"'),
                    "expected an include path from the root")

    def test_pass_without_file(self):
        added = ('def GrowTreesPass : Pass<"tfc-grow-trees"> {\n'
                 '  let summary = "x";\n  let description = "y";\n}\n')
        path = "compiler/fusion/Passes.td"
        test = "test/compiler/fusion/grow-trees.mlir"
        with self.changed(test, lambda _: HEAD):
            self.expect(path, adding(added), "GrowTrees.cpp")
        source = "compiler/fusion/GrowTrees.cpp"
        with self.changed("compiler/fusion/CMakeLists.txt",
                          adding("# GrowTrees\n")), \
                self.changed(source, lambda _: HEAD):
            self.expect(path, adding(added), test)
            with self.changed(test, lambda _: HEAD):
                self.expect(path, adding(added.replace("description", "x")),
                            "expected a description of tfc-grow-trees")

    def test_pass_with_options_whose_statistics_begin_anywhere(self):
        self.expect("compiler/kernel/ExpandMath.cpp",
                    without("clearStatistics(*this);"),
                    "compiler/kernel/ExpandMath.cpp: expected clearStatistics")

    def test_pass_of_other_words(self):
        self.expect("compiler/emit/Passes.td",
                    lambda old: old.replace("def EmitAbiPass", "def AbiPass"),
                    "expected class EmitAbiPass")

    def test_op_without_round_trip(self):
        self.expect("test/dialect/norm-ops.mlir",
                    lambda old: old.replace("transformer.layer_norm", "other"),
                    "expected transformer.layer_norm in a round trip")

    def test_constraint_without_test(self):
        self.expect("dialect/NormOps.td",
                    lambda old: old.replace("* C5. offset",
                                            "* C5. x.\n    * C7. offset"),
                    "expected a test @layer_norm_c7_<what>")

    def test_test_without_constraint(self):
        self.expect("test/dialect/norm-invalid.mlir",
                    adding("// @layer_norm_c9_what\n"),
                    "expected a constraint that layer_norm has, got C9")

    def test_op_without_numerics(self):
        self.expect("docs/numerics.md",
                    lambda old: old.replace("`quantize_rows`", "rows"),
                    "expected a row for `quantize_rows`, got none")

    def test_fusion_names_structured_op(self):
        self.expect("compiler/fusion/FuseEpilogues.cpp",
                    adding("// PagedAttentionOp\n"),
                    "expected no structured op")

    def test_kernel_reads_term_of_attention(self):
        self.expect("compiler/gpu/attention/WarpAttention.cpp",
                    adding("// op.getLogBase()\n"),
                    "expected no term of attention")

    def test_no_licence_line(self):
        self.expect("runtime/src/step/Batch.cpp", without(check_layout.SPDX),
                    "runtime/src/step/Batch.cpp: expected the SPDX line")
        # Joined to the sentence before it, as clang-format does.
        self.expect("runtime/src/step/Batch.cpp",
                    lambda old: old.replace(f"\n// {check_layout.SPDX}",
                                            f" {check_layout.SPDX}"),
                    "runtime/src/step/Batch.cpp: expected the SPDX line")

    def test_path_of_a_machine(self):
        self.expect("test/lit.cfg.py", adding('x = "/' + 'home/me/x"\n'),
                    "expected a path that exists on every machine")

    def test_unfinished(self):
        self.expect("runtime/src/step/Batch.cpp", adding("// TO" + "DO: more\n"),
                    "expected finished work")

    def test_source_that_is_not_built(self):
        self.expect("runtime/src/Forgotten.cpp", adding(HEAD),
                    "expected its name in runtime/src/CMakeLists.txt")

    def test_dead_link(self):
        self.expect("README.md", adding("[x](docs/nowhere.md)\n"),
                    "expected a link to a file, got docs/nowhere.md")

    def test_decision_numbered_twice(self):
        self.expect("docs/rationale/0001-another.md",
                    adding("# 0001: another\n"),
                    "expected one decision 0001, got 2")

    def test_decision_missing(self):
        # Links to it are dead as well.
        with self.changed("docs/rationale/0003-spectator-tokens.md",
                          lambda _: None):
            faults = set(check_layout.find_faults(self.root)) - self.before
        self.assertIn("docs/rationale: expected one decision 0003, got 0",
                      faults)

    def test_decision_of_another_title(self):
        self.expect("docs/rationale/0002-no-cse-before-bufferization.md",
                    lambda old: old.replace("# 0002", "# 0003"),
                    "expected the title to begin with 0002")

    def test_status(self):
        check = [sys.executable, "-B", os.path.join(HERE, "check_layout.py"),
                 "--root", self.root]
        with self.changed("runtime/src/Forgotten.cpp", adding(HEAD)):
            done = subprocess.run(check, stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: runtime/src/Forgotten.cpp", done.stdout)


@unittest.skipUnless(shutil.which(check_format.FORMATTER),
                     f"no {check_format.FORMATTER}")
class FormatTest(Copy):
    def run_check(self):
        return subprocess.run(
            [sys.executable, "-B", os.path.join(HERE, "check_format.py"),
             "--root", self.root], stdout=subprocess.PIPE, text=True)

    def test_unformatted(self):
        with self.changed("runtime/src/step/Batch.cpp", adding("int  x ;\n")):
            done = self.run_check()
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: runtime/src/step/Batch.cpp: expected the formatting",
                      done.stdout)

    def test_no_formatter(self):
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(HERE, "check_format.py"),
             "--formatter", "no-such-formatter"], stdout=subprocess.PIPE,
            text=True)
        self.assertEqual(done.returncode, check_format.SKIPPED)
        self.assertIn("skipped: no no-such-formatter", done.stdout)


class FamiliesTest(Copy):
    def faults(self):
        done = subprocess.run(
            [sys.executable, "-B",
             os.path.join(self.root, "test/hygiene/check_families.py")],
            stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout

    def test_as_it_is(self):
        self.assertEqual(self.faults(), "")

    def test_a_family_that_is_refused(self):
        with self.changed("compiler/spec/family/refused.json",
                          lambda text: text.replace("{", '{ "bert": "x",', 1)):
            self.assertIn("expected no bert (it has a table), got \"x\"",
                          self.faults())

    def test_a_family_that_nobody_draws(self):
        with self.changed("test/differential/draw_tables.py",
                          lambda text: text.replace('"ctrl": "CTRL",', "")):
            self.assertIn("ctrl.json: expected that test/differential draws "
                          "CTRLModel", self.faults())

    def test_a_family_that_is_off(self):
        with self.changed("test/golden/families.txt",
                          lambda text: text.replace("ctrl\n", "")):
            self.assertIn("draws CTRLModel", self.faults())

    def test_a_family_without_a_golden_model(self):
        with self.changed("test/golden/models/ctrl-lm/config.json",
                          lambda text: None):
            self.assertEqual(
                "error: compiler/spec/family/tables/ctrl.json: expected a "
                "golden model of model type ctrl, got none\n", self.faults())


class DocumentsTest(Copy):
    def faults(self):
        done = subprocess.run(
            [sys.executable, "-B",
             os.path.join(self.root, "test/hygiene/check_documents.py")],
            stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1 if done.stdout else 0)
        return done.stdout

    def test_as_it_is(self):
        self.assertEqual(self.faults(), "")

    def test_a_drawing_or_a_command(self):
        with self.changed("README.md", adding("```\ntfc run DIR x\n```\n")):
            self.assertIn("plan.py knows to be text, got 'tfc run DIR x'",
                          self.faults())

    def test_a_command_that_changed(self):
        with self.changed("README.md", lambda old: old.replace(
                "pip wheel --no-deps", "pip wheel")):
            self.assertIn("expected a command or a block of README.md, got "
                          "'pip wheel --no-deps", self.faults())

    def test_c_without_a_name(self):
        with self.changed("docs/c.md",
                          lambda old: old.replace("/* date.c */\n", "")):
            self.assertIn("expected C that begins with the name of its file",
                          self.faults())

    def test_a_fence_of_another_language(self):
        with self.changed("docs/c.md", adding("```fish\ntfc\n```\n")):
            self.assertIn("got fish", self.faults())


class HeadersTest(unittest.TestCase):
    """What a source includes, and what it may start from."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="tfc-headers-")
        self.addCleanup(shutil.rmtree, self.root)
        guarded = "#ifndef A\n#define A\n#include \"{}\"\n#endif\n"
        self.write("far.h", "int far();\n")
        self.write("near.h", guarded.format("far.h"))
        self.write("all", '#include <far.h>\n')

    def write(self, name, text):
        with open(os.path.join(self.root, name), "w") as stream:
            stream.write(text)

    def faults(self, source):
        self.write("a.cpp", source)
        check_headers.choose_headers.list_includes.cache_clear()
        check_headers.includes_of.cache_clear()
        place = os.path.join(self.root, "a.cpp")
        return list(check_headers.find_faults([{
            "file": place, "command": f"clang -I{self.root} -Xclang "
            f"-include-pch -Xclang {self.root}/all.pch -c {place}"}]))

    def test_included_through_another(self):
        self.assertEqual(self.faults('#include "near.h"\n'), [])

    def test_forgotten(self):
        self.assertIn("expected it to include far.h, which it starts from",
                      *self.faults("int near();\n"))

    def test_included_on_a_condition(self):
        for text in ('#ifdef B\n#include "far.h"\n#endif\n',
                     '#ifndef A\n#define A\n#endif\n#if B\n'
                     '#include "near.h"\n#endif\n'):
            self.assertEqual(len(self.faults(text)), 1, text)

    def test_files_that_forgot_one(self):
        # Without it they would build where everything is precompiled.
        for path in ("compiler/kernel/NarrowFloat.cpp",
                     "compiler/reference/Interpreter.cpp"):
            with open(os.path.join(ROOT, path)) as stream:
                text = stream.read()
            header = "mlir/IR/TypeUtilities.h"
            self.write("all", f"#include <{header}>\n")
            os.makedirs(os.path.join(self.root, "mlir", "IR"), exist_ok=True)
            self.write(header, "")
            check_headers.headers_of.cache_clear()
            self.assertEqual(self.faults(text), [])
            self.assertEqual(len(self.faults(text.replace(
                f'#include "{header}"\n', ""))), 1)
            check_headers.headers_of.cache_clear()


class DocsTest(unittest.TestCase):
    def setUp(self):
        self.committed = tempfile.mkdtemp(prefix="tfc-docs-")
        self.fresh = tempfile.mkdtemp(prefix="tfc-docs-")
        for folder in (self.committed, self.fresh):
            self.addCleanup(shutil.rmtree, folder)
            self.write(folder, "passes.md", "# Passes\none\n")

    def write(self, folder, name, text):
        with open(os.path.join(folder, name), "w") as stream:
            stream.write(text)

    def test_equal(self):
        self.assertEqual(check_docs.compare(self.committed, self.fresh), [])

    def test_stale(self):
        self.write(self.fresh, "passes.md", "# Passes\ntwo\n")
        diff = "".join(check_docs.compare(self.committed, self.fresh))
        self.assertIn("-one\n+two\n", diff)

    def test_nobody_makes_it(self):
        self.write(self.committed, "old.md", "old\n")
        self.assertIn("-old\n", check_docs.compare(self.committed, self.fresh))

    def test_missing(self):
        self.write(self.fresh, "new.md", "new\n")
        self.assertIn("+new\n", check_docs.compare(self.committed, self.fresh))


if __name__ == "__main__":
    unittest.main()
