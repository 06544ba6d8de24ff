# Asks a library for its tables as runtimes of two versions would: the older one
# gets none, the newer one gets them (the oldest of all may be both).
#   prepare.py LIBRARY OLDER NEWER
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os
import sys


def main():
    path, older, newer = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    query = ctypes.CDLL(os.path.abspath(path)).tfc_module_query
    query.restype = ctypes.c_void_p
    if not query(newer):
        return f"expected tables for version {newer}, got none"
    if older != newer and query(older):
        return f"expected no tables for version {older}, got some"
    return 0


if __name__ == "__main__":
    sys.exit(main())
