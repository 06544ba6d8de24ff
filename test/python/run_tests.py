#!/usr/bin/env python3
# All tests of the Python package, in a cache folder of their own.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys
import tempfile
import unittest

try:
    import numpy  # noqa: F401
except ImportError as error:
    print(f"skipped: {error} (the Python package needs NumPy)")
    sys.exit(77)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory(prefix="tfc-python-") as scratch:
        os.environ["XDG_CACHE_HOME"] = scratch
        tests = unittest.defaultTestLoader.discover(here, "*_test.py")
        result = unittest.TextTestRunner(verbosity=2).run(tests)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":  # and not in the processes that tests start
    sys.exit(main())
