# Where models look: as Hugging Face's models do, and as a page that stands alone.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import base64
import json
import os
import re
import tempfile
import unittest
from html.parser import HTMLParser

import numpy as np
import shared
import tfcompiler as tfc
from browser import Browser, find_browser


class Links(HTMLParser):
    """What a page would fetch."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [value for name, value in attributes
                       if name in ("src", "href", "srcset", "action", "data")]


def data_of(page):
    return json.loads(re.search(
        r'<script type="application/json" id="data">(.*?)</script>', page,
        re.S)[1])


class Attentions(unittest.TestCase):
    def test_rows_are_probabilities(self):
        maps = shared.stories().attentions("Once upon a time")["attentions"]
        self.assertEqual(maps.dtype, np.float32)
        self.assertEqual(maps.shape[2:], (17, 17))
        np.testing.assert_allclose(maps.sum(-1), 1, rtol=1e-5)
        self.assertEqual(np.abs(np.triu(maps, 1)).max(), 0)  # causal

    def test_of_an_encoder_decoder(self):
        maps = shared.dates().attentions("3 May", target_ids=[2, 50, 51])
        self.assertEqual({name: array.shape[2:]
                          for name, array in maps.items()},
                         {"encoder_attentions": (6, 6),
                          "decoder_attentions": (3, 3),
                          "cross_attentions": (3, 6)})

    def test_as_transformers_has_them(self):
        try:
            import torch
            import transformers
        except ImportError as missing:
            self.skipTest(f"{missing} (attentions are compared with theirs)")
        for name, inputs in (
                ("bert-model", {"input_ids": [[3, 14, 15, 9, 2]]}),
                ("qwen2-lm", {"input_ids": [[3, 14, 15, 9, 2]]}),
                ("bart-lm", {"input_ids": [[3, 14, 15, 2]],
                             "decoder_input_ids": [[2, 7, 9]]})):
            folder = os.path.join(shared.GOLDEN, name)
            config = transformers.AutoConfig.from_pretrained(folder)
            theirs = getattr(transformers, config.architectures[0]) \
                .from_pretrained(folder, attn_implementation="eager")
            with torch.no_grad():
                wanted = theirs(output_attentions=True, **{
                    key: torch.tensor(ids) for key, ids in inputs.items()})
            got = tfc._attention.attentions(shared.golden(name), inputs)
            for key, maps in got.items():
                np.testing.assert_allclose(
                    maps, torch.cat(getattr(wanted, key)).numpy(), atol=1e-5,
                    err_msg=f"{name}: {key}")

    def test_says_what_is_missing(self):
        model = shared.golden("bert-model")
        with self.assertRaisesRegex(tfc.Error, "expected values from 0 to 96"):
            tfc._attention.attentions(model, {"input_ids": [[97]]})
        with self.assertRaisesRegex(tfc.Error, "expected one sequence, got 2"):
            tfc._attention.attentions(model, {"input_ids": [[3], [4]]})
        with self.assertRaisesRegex(tfc.Error, "at most 40 tokens, got 41"):
            tfc._attention.attentions(model, {"input_ids": [[3] * 41]})


class Pages(unittest.TestCase):
    TEXT = "3 </script> <b> & \u00e9"

    @classmethod
    def setUpClass(cls):
        cls.page = shared.dates().attention_page(cls.TEXT)

    def test_stands_alone(self):
        links = Links()
        links.feed(self.page)
        self.assertEqual(links.found, [])
        self.assertNotRegex(self.page, r"https?:|url\(|import\(|fetch\(")
        # What the text says begins and ends nothing.
        self.assertEqual(self.page.count("</script>"), 2)

    def test_has_all_maps(self):
        maps = data_of(self.page)["maps"]
        self.assertEqual(len(maps), 3)
        for one in maps:
            self.assertEqual(
                len(base64.b64decode(one["bytes"])), one["layers"] *
                one["heads"] * len(one["queries"]) * len(one["keys"]))
        # Bytes are the tokens: one of a part of a letter shows the letter.
        self.assertIn("<", maps[0]["keys"])
        self.assertEqual(maps[0]["keys"][1], "\u2423")
        self.assertEqual(maps[0]["keys"][-1], "</s>")
        self.assertEqual(maps[1]["queries"], maps[2]["queries"])
        self.assertEqual(maps[2]["keys"], maps[0]["keys"])

    def test_is_drawn(self):
        browser = find_browser()
        if not browser:
            self.skipTest("no Chromium here to draw the page")
        scratch = tempfile.TemporaryDirectory(prefix="tfc-page-")
        self.addCleanup(scratch.cleanup)
        path = os.path.join(scratch.name, "page.html")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(self.page)
        try:
            with Browser(browser) as drawer:
                drawer.open(f"file://{path}")
                drawn = drawer.value("document.documentElement.outerHTML")
        except OSError as error:
            self.skipTest(f"a Chromium that draws nothing: {error}")
        count = sum(one["layers"] * one["heads"]
                    for one in data_of(self.page)["maps"])
        self.assertIn(f'data-maps="{count}"', drawn)
        self.assertEqual(drawn.count("<canvas"), count + 1)
