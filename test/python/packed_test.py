# Servers of one file of packed weights have one copy of it together.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import tempfile
import unittest

import shared
from serving import Served

FOLDER = os.path.join(shared.MODELS, "stories-tiny")
PROMPT = "Once upon a time"


def mapped(process, path):
    """What a process has of a file, in KB, by the kernel's names."""
    found, sizes = False, {}
    with open(f"/proc/{process}/smaps") as stream:
        for line in stream:
            name, _, rest = line.partition(":")
            if " " in name:  # the first line of a mapping
                found = line.rstrip().endswith(path)
            elif found and rest.endswith(" kB\n"):
                sizes[name] = sizes.get(name, 0) + int(rest.split()[0])
    return sizes


class Packed(unittest.TestCase):
    def test_is_there_once(self):
        shared.stories()
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "stories.packed")
            with Served(FOLDER, "--packed", path) as first, \
                    Served(FOLDER, "--packed", path) as second, \
                    Served(FOLDER, "--packed", path) as third:
                servers = (first, second, third)
                answers = {each.ask("/v1/completions", prompt=PROMPT,
                                    max_tokens=20)["choices"][0]["text"]
                           for each in servers}
                try:
                    sizes = [mapped(each.process.pid, path)
                             for each in servers]
                except OSError as error:
                    self.skipTest(f"{error} (which says who maps what)")
            self.assertEqual(answers, {shared.stories().generate(
                PROMPT, max_new_tokens=20)})
            file_kb = os.path.getsize(path) // 1024
            for each in sizes:
                self.assertGreater(each["Rss"], file_kb / 2)  # it was read
                self.assertEqual(each["Private_Dirty"], 0)
                self.assertEqual(each["Anonymous"], 0)
            # A page that n processes have counts 1/n in each one's Pss.
            self.assertLess(sum(each["Pss"] for each in sizes),
                            1.05 * file_kb + 64)

    def test_of_another_model_is_refused(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "stories.packed")
            with open(path, "wb") as stream:
                stream.write(b"nothing")
            served = Served(FOLDER, "--packed", path)
            self.assertEqual(served.line, "")
            self.assertEqual(served.process.wait(60), 1)
            served.process.stdout.close()


if __name__ == "__main__":
    unittest.main()
