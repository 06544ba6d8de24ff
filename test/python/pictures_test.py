# Encoders of pictures: pixels are cut into the patches that the model reads.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import unittest

import numpy as np

import shared
import tfcompiler as tfc

NAME, SIDE, GRID, CHANNELS = "vit-model", 4, 6, 3


# With two tokens in front of the patches, with none, and with four.
OTHERS = ("deit-model", "siglipvision-model", "dinov3-model")


def case(kind, name=NAME):
    import tensors
    path = os.path.join(shared.GOLDEN, name, f"{kind}-several.safetensors")
    return {name: np.array(tensor.data, dtype=np.float32).reshape(tensor.shape)
            for name, tensor in tensors.read(path).items()}


def to_pixels(patches):
    """The pictures that they are cut from, pixel by pixel."""
    pixels = np.zeros((len(patches), CHANNELS, GRID * SIDE, GRID * SIDE),
                      np.float32)
    for row, patch, number in np.ndindex(*patches.shape):
        channel, y, x = np.unravel_index(number, (CHANNELS, SIDE, SIDE))
        pixels[row, channel, patch // GRID * SIDE + y,
               patch % GRID * SIDE + x] = patches[row, patch, number]
    return pixels


class Pictures(unittest.TestCase):
    def setUp(self):
        self.model = shared.golden(NAME)
        self.patches = case("inputs")["patches"]

    def check_cut(self, model, of):
        patches = case("inputs", of)["patches"]
        given = model(patches=patches)
        cut = model(pixel_values=to_pixels(patches))
        for name, wanted in case("expected", of).items():
            np.testing.assert_allclose(given[name], wanted, atol=1e-4 * max(
                1, np.abs(wanted).max()))
            np.testing.assert_array_equal(cut[name].view(np.int32),
                                          given[name].view(np.int32))

    def test_are_cut_as_the_convolution_does(self):
        self.check_cut(self.model, NAME)
        for name in OTHERS:
            with self.subTest(name):
                self.check_cut(shared.golden(name), name)

    def test_port_says_how_patches_are(self):
        port, = [port for port in self.model.info.inputs if port.rank == 3]
        self.assertEqual((port.name, port.width, port.limit, port.required),
                         ("patches", CHANNELS * SIDE * SIDE, 1, True))

    def test_wrong_pictures_are_refused(self):
        for pixels, word in (
                (np.zeros((1, 3, 24, 20)), "36 patches of 48 numbers"),
                (np.zeros((1, 1, 24, 24)), "36 patches of 48 numbers"),
                (np.zeros((3, 24, 24)), "36 patches of 48 numbers"),
                ([["a"]], "expected numbers"), ([[1], [1, 2]], "of one size")):
            with self.subTest(word=word):
                with self.assertRaisesRegex(tfc.Error, word):
                    self.model(pixel_values=pixels)
        with self.assertRaisesRegex(tfc.Error, '"patches": expected a '
                                    "tensor"):
            self.model(attention_mask=np.ones((1, 37), np.int64))
        with self.assertRaisesRegex(tfc.Error, "expected one of patches"):
            self.model(input_ids=[[1, 2]])


if __name__ == "__main__":
    unittest.main()
