# The Python of the package's pages runs as it is written.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import contextlib
import io
import os
import re
import sys
import tempfile
import unittest

from chats_test import has_jinja
from shared import SOURCE

sys.path.insert(0, os.path.join(SOURCE, "test", "examples"))
import blocks as documents


def run(page):
    """What the blocks of a page print, one behind the other, in a folder with
    the examples."""
    with open(os.path.join(SOURCE, *page.split("/"))) as stream:
        blocks = re.findall(r"```python\n(.*?)```", stream.read(), re.S)
    if not has_jinja():
        blocks = [block for block in blocks
                  if "apply_chat_template" not in block]
    said, before, names = io.StringIO(), os.getcwd(), {}
    with tempfile.TemporaryDirectory(prefix="tfc-page-") as scratch:
        os.symlink(os.path.join(SOURCE, "examples"),
                   os.path.join(scratch, "examples"))
        os.chdir(scratch)
        try:
            with contextlib.redirect_stdout(said):
                for block in blocks:
                    exec(compile(block, page, "exec"), names)
        finally:
            os.chdir(before)
    return said.getvalue()


class Documents(unittest.TestCase):
    def test_the_first_page_runs(self):
        self.assertIn("['1999-05-03', '2024-03-01']", run("python/README.md"))

    def test_the_users_page_runs(self):
        said = run("docs/python.md")
        self.assertIn("['1999-05-03', '2024-03-01']", said)
        self.assertIn("[(0, 1), (1, 2), (2, 3)]", said)
        self.assertIn("encoder-decoder 96", said)
        self.assertIn("'cross_attentions': (2, ", said)
        self.assertIn("INVALID_ARGUMENT", said)
        self.assertIn("['One day', 'The rain']\n[]\n", said)
        self.assertIn("LENGTH_REACHED", said)

    def test_every_other_page_with_python_runs(self):
        for page in documents.list_documents(SOURCE):
            with open(os.path.join(SOURCE, page)) as stream:
                has_python = "```python\n" in stream.read()
            if has_python and page not in ("python/README.md",
                                           "docs/python.md"):
                self.assertTrue(run(page), page)
