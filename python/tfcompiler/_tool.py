# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's program: where it is, and its commands."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import List

from tfcompiler._error import Code, Error

# tfc's exit statuses: of input, of the command line; the rest are its faults.
_CODES = {1: Code.INVALID_ARGUMENT, 2: Code.INVALID_ARGUMENT}


def find_compiler() -> str:
    """$TFC, the tfc that came with this package, or the one in the PATH."""
    beside = Path(__file__).parent / "bin" / "tfc"
    named = os.environ.get("TFC")
    found = named or (str(beside) if beside.exists() else shutil.which("tfc"))
    if not found:
        raise Error(Code.NOT_FOUND, "expected the compiler tfc in the PATH "
                    "($TFC names another file), got none")
    return found


def run_tool(command: List[str]) -> None:
    """Runs one of the compiler's commands; its words are the Error's."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              errors="replace")
    except OSError as error:
        raise Error(Code.NOT_FOUND, f"{command[0]}: expected the compiler tfc,"
                    f" got: {error.strerror}") from None
    except (TypeError, ValueError) as error:  # no text, a null byte in it
        raise Error(Code.INVALID_ARGUMENT, "expected words for tfc's command "
                    f"line, got: {error}") from None
    if done.returncode:
        raise Error(_CODES.get(done.returncode, Code.INTERNAL),
                    done.stderr.strip() or f"{command[0]}: no end but status "
                    f"{done.returncode}")
