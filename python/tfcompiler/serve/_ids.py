# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of answers and requests: no two are alike, and none is a secret. Those
of the system's generator cost a call of the system each."""
import random

_random = random.Random()


def new_id() -> str:
    """32 hexadecimal digits."""
    return f"{_random.getrandbits(128):032x}"
