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


# Of the longest, which start servers, CI takes a half by the seed, and of what
# loads other frameworks besides a fourth.
LONG = ("attacks_test", "clients_test", "operations_test", "receipts_test")
SEED = os.environ.get("TFC_SEED")


def is_drawn(number, count):
    """Whether one of `count` is taken; all are without a seed."""
    return not SEED or int(SEED) % count == number % count


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory(prefix="tfc-python-") as scratch:
        os.environ["XDG_CACHE_HOME"] = scratch
        tests = unittest.TestSuite()
        for name in sorted(os.listdir(here)):
            if name.endswith("_test.py") and (
                    name[:-3] not in LONG
                    or is_drawn(LONG.index(name[:-3]), 2)):
                tests.addTest(unittest.TestLoader().discover(here, name))
        result = unittest.TextTestRunner(verbosity=2).run(tests)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":  # and not in the processes that tests start
    sys.exit(main())
