# The Python of the package's page runs as it is written.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import contextlib
import io
import os
import re
import unittest

from shared import SOURCE


class Documents(unittest.TestCase):
    def test_the_first_page_runs(self):
        with open(os.path.join(SOURCE, "python", "README.md")) as stream:
            code = re.search(r"```python\n(.*?)```", stream.read(), re.S)[1]
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(SOURCE)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, "python/README.md", "exec"), {})
        self.assertIn("['1999-05-03', '2024-03-01']", said.getvalue())
