#!/usr/bin/env python3
# What a decode step costs through ctypes beyond the library's own time: the same
# session, stepped by Python (tfcompiler's calls) and by the C API's loop in one
# call (tfc_generate), in turns.
#   PYTHONPATH=python TFC_RUNTIME=... python_step.py MODEL.so FOLDER [TOKENS]
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import statistics
import sys
import time

import numpy as np
import tfcompiler as tfc

ROUNDS = 9


def main():
    model = tfc.load(sys.argv[1], sys.argv[2])
    tokens = int(sys.argv[3]) if len(sys.argv) > 3 else 32
    ids = list(range(5, 69))
    words = {"max_new_tokens": tokens, "do_sample": False, "num_beams": 1,
             "eos_token_id": None}

    def in_python():
        for _ in model.stream_ids(ids, **words):
            pass

    def in_one_call():
        model.generate_ids(np.array([ids]), **words)

    times = {in_python: [], in_one_call: []}
    for _ in range(ROUNDS):
        for run, taken in times.items():
            begin = time.perf_counter()
            run()
            taken.append((time.perf_counter() - begin) / tokens)
    step, alone = (statistics.median(taken) for taken in times.values())
    spread = sorted(a - b for a, b in zip(*times.values()))
    print(f"a token: {step * 1e3:.3f} ms by steps from Python, "
          f"{alone * 1e3:.3f} ms in one call; the difference of a round "
          f"{statistics.median(spread) * 1e6:.0f} us "
          f"({spread[0] * 1e6:.0f} to {spread[-1] * 1e6:.0f})")
    # The calls alone, of a session with nothing to do.
    from tfcompiler import _structs as s
    import ctypes as c
    library, session = tfc._library.runtime(), c.c_void_p()
    library.tfc_session_create(model._handle, c.byref(s.SessionOptions()),
                               c.byref(session))
    result, count = s.StepResult(), 20000
    begin = time.perf_counter()
    for _ in range(count):
        library.tfc_session_step(session, c.byref(result))
    taken = (time.perf_counter() - begin) / count
    library.tfc_session_free(session)
    print(f"a step of an empty session: {taken * 1e6:.2f} us, "
          f"{100 * taken / step:.3f} % of a token")


if __name__ == "__main__":
    main()
