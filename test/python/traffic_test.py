# A little of the traffic of traffic.py and serve_traffic.py; more of it by hand.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import tempfile
import unittest

import traffic


class MixedTraffic(unittest.TestCase):
    def test_answers_are_those_of_each_alone(self):
        seed = int(os.environ.get("TFC_SEED") or 1)
        made = traffic.Traffic(seed, 60,
                               traffic.small() if seed % 2 == 0 else None,
                               "int8" if seed % 3 == 0 else None)
        self.assertEqual(made.run(150), 0, f"seed {seed}")
        self.assertGreater(made.numbers["whole"], 100)
        self.assertGreater(made.numbers["cancelled"], 0)
        # One request in 25 has beams, so that a pool of another seed may have
        # none.
        if seed == 1:
            self.assertTrue(any("num_beams" in words
                                for _, _, words in made.pool))
        for name in ("cached_tokens", "accepted_tokens", "n_preemptions",
                     "n_evictions", "encoded_tokens"):
            self.assertGreater(getattr(made.stats, name), 0, name)

    def test_answers_over_http_are_those_of_each_alone(self):
        seed = int(os.environ.get("TFC_SEED") or 1)
        import serve_traffic  # which skips where there is no server
        with tempfile.TemporaryDirectory() as scratch, \
                serve_traffic.served(scratch) as server:
            made = serve_traffic.Traffic(server, seed, 40)
            made.run(150)
            self.assertTrue(made.is_idle())
        self.assertEqual(made.numbers["differs"], 0, f"seed {seed}")
        self.assertGreater(made.numbers["whole"], 100)
        self.assertGreater(made.numbers["left"], 0)
        self.assertEqual(server.status, 0)


if __name__ == "__main__":
    unittest.main()
