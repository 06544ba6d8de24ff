# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of keys: who may ask a server."""
from __future__ import annotations

from pathlib import Path
from typing import List, Tuple

from tfcompiler._error import Code, Error


def read_keys(path: Path) -> List[Tuple[str, str]]:
    """Keys of a file: a line each, NAME:SHA256 in hexadecimal; # begins a
    comment. Raises Error."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise Error(Code.IO, f"{path}: expected a file of keys, got: "
                    f"{error}") from None
    made = []
    for number, line in enumerate(lines, 1):
        line = line.partition("#")[0].strip()
        name, _, digest = line.partition(":")
        if not line:
            continue
        if not name or len(digest) != 64 or \
                set(digest.lower()) - set("0123456789abcdef"):
            raise Error(Code.INVALID_ARGUMENT, f"{path}:{number}: expected "
                        "NAME:SHA256, 64 hexadecimal digits of the key's "
                        "SHA-256")
        made.append((name, digest.lower()))
    if not made:
        raise Error(Code.INVALID_ARGUMENT, f"{path}: expected keys, got none")
    return made
