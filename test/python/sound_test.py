# Encoders of sound: features become the rows that the model reads, and what the
# decoder begins with is made of a language and a task.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import tempfile
import unittest
import wave

import numpy as np

import shared
import tfcompiler as tfc

NAME, MELS, POSITIONS = "whisper-lm", 10, 13
DTYPES = {"F32": np.float32, "I64": np.int64}


def case(name):
    import tensors
    path = os.path.join(shared.GOLDEN, NAME, name + ".safetensors")
    return {name: np.array(tensor.data, DTYPES[tensor.dtype]).reshape(
        tensor.shape) for name, tensor in tensors.read(path).items()}


def to_features(patches):
    rows, count, width = patches.shape
    return patches.reshape(rows, 2 * count, width // 2).transpose(0, 2, 1)


class Sound(unittest.TestCase):
    def setUp(self):
        self.model = shared.golden(NAME)
        self.inputs = case("inputs-generate")
        self.wanted = case("expected-generate")["sequences"]
        self.features = to_features(self.inputs["patches"])

    def test_forward(self):
        for name in ("several", "short"):
            inputs = case("inputs-" + name)
            got = self.model(input_features=to_features(inputs["patches"]),
                             decoder_input_ids=inputs["decoder_input_ids"])
            for key, wanted in case("expected-" + name).items():
                np.testing.assert_allclose(got[key], wanted, atol=1e-4 * max(
                    1, np.abs(wanted).max()))

    def test_ids(self):
        got = self.model.generate_ids(
            input_features=self.features, max_new_tokens=40,
            decoder_input_ids=self.inputs["decoder_input_ids"])
        np.testing.assert_array_equal(got.sequences, self.wanted)
        patches = self.model.generate_ids(
            patches=self.inputs["patches"], max_new_tokens=40,
            decoder_input_ids=self.inputs["decoder_input_ids"])
        np.testing.assert_array_equal(patches.sequences, self.wanted)

    def test_texts_begin_with_language_and_task(self):
        written = self.model.generate(input_features=self.features,
                                      language="de", max_new_tokens=40)
        wanted = [self.model.tokenizer.decode(row[4:]) for row in self.wanted]
        self.assertEqual(written, wanted)
        self.assertEqual(written, self.model.generate(
            input_features=self.features, language="<|de|>",
            task="transcribe", max_new_tokens=40))
        self.assertNotEqual(written, self.model.generate(
            input_features=self.features, language="en", task="translate",
            max_new_tokens=40))

    def test_language_is_heard(self):
        """That whose token is likeliest behind the start."""
        from tfcompiler._sound import prompts
        arrays = {"patches": self.inputs["patches"]}
        logits = self.model(**arrays, decoder_input_ids=[[90]] * 3)["logits"]
        heard = 91 + (logits[:, 0, 92] > logits[:, 0, 91])
        np.testing.assert_array_equal(
            prompts(self.model, arrays, None, None),
            [[90, each, 95] for each in heard])
        np.testing.assert_array_equal(
            prompts(self.model, arrays, None, "translate"),
            [[90, each, 94, 95] for each in heard])

    def test_suppressed_tokens(self):
        how = dict(input_features=self.features, max_new_tokens=5,
                   decoder_input_ids=self.inputs["decoder_input_ids"])
        first = self.wanted[0, 4]
        got = self.model.generate_ids(**how, suppress_tokens=[first])
        self.assertNotIn(first, got.sequences[0, 4:])
        got = self.model.generate_ids(**how, begin_suppress_tokens=[first])
        self.assertNotEqual(first, got.sequences[0, 4])
        for word in ("suppress_tokens", "begin_suppress_tokens"):
            with self.assertRaisesRegex(tfc.Error, word[:-7] + ": expected "
                                        "token ids from 0 to 96, got 97"):
                self.model.generate_ids(**how, **{word: [97]})

    def test_wave(self):
        """A file is its samples; both are cut at the model's longest sound."""
        model = shared.golden(NAME)
        samples = np.sin(np.arange(4000) / 7) * 0.3
        data = (samples * 32767).astype("<i2")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.wav")
            with wave.open(path, "wb") as file:
                file.setparams((1, 2, 16000, 0, "NONE", "not compressed"))
                file.writeframes(data.tobytes())
            how = dict(language="en", max_new_tokens=6)
            one = model.generate(sound=path, **how)
            self.assertIsInstance(one, str)
            self.assertEqual([one, one], model.generate(
                sound=[path, data / np.float32(32768)], **how))
            with wave.open(path, "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", "not compressed"))
                file.writeframes(data.tobytes())
            with self.assertRaisesRegex(tfc.Error, "expected 16000 samples a "
                                        "second of 16 bits, got 8000 of 16"):
                model.generate(sound=path)

    def test_spectrogram(self):
        """Of a tone the filter around its frequency has most; silence is the
        least there is."""
        tone = np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
        frames = tfc.log_mel(tone, 80, seconds=1)
        self.assertEqual((frames.shape, frames.dtype), ((80, 100),
                                                        np.float32))
        self.assertEqual(set(frames[:, 10:90].argmax(axis=0)), {26})
        self.assertAlmostEqual(float(frames.max() - frames.min()), 2.0, 5)
        np.testing.assert_array_equal(tfc.log_mel(np.zeros(320), 20,
                                                  seconds=None),
                                      np.full((20, 2), -1.5, np.float32))

    def test_files_that_are_none(self):
        """One that is cut off is read as far as it goes."""
        samples = np.arange(-200, 200, dtype="<i2")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.wav")
            with wave.open(path, "wb") as file:
                file.setparams((2, 2, 16000, 0, "NONE", "not compressed"))
                file.writeframes(samples.tobytes())
            with open(path, "rb") as stream:
                whole = stream.read()
            from tfcompiler._sound import read_wave
            for cut in (1, 2, 3):
                with open(path, "wb") as stream:
                    stream.write(whole[:-cut])
                self.assertEqual(len(read_wave(path)), 199)
            for part, word in ((b"", "got its end"), (whole[:20], "got its"),
                               (b"RIFF", "got its"), (b"x" * 90, "RIFF")):
                with open(path, "wb") as stream:
                    stream.write(part)
                with self.assertRaisesRegex(tfc.Error, "a.wav: expected a WAV "
                                            "file, got .*" + word[4:]):
                    read_wave(path)
            for bad, word in ((folder, "directory"), ("a\0b", "sound"),
                              (path + "x", "no such file")):
                with self.assertRaisesRegex(tfc.Error, word):
                    read_wave(bad)

    def test_spectrograms_of_nothing(self):
        for how in (dict(seconds=0), dict(seconds=-1), dict(mels=0),
                    dict(seconds=float("nan")), dict(seconds=1e9)):
            with self.assertRaisesRegex(tfc.Error, "at least one filter and"):
                tfc.log_mel(np.zeros(400), **how)
        with self.assertRaisesRegex(tfc.Error, "0 samples"):
            tfc.log_mel(np.zeros(0), seconds=None)
        with self.assertRaisesRegex(tfc.Error, "got integers"):
            tfc.log_mel(np.zeros(400, np.int16))

    def test_wrong_ones_are_refused(self):
        for given, word in (
                (np.zeros((1, 10, 25)), "an even number of at most 26 frames"),
                (np.zeros((1, 10, 28)), "an even number of at most 26 frames"),
                (np.zeros((1, 9, 26)), r"expected \[batch, 10, frames\]"),
                (np.zeros((10, 26)), r"expected \[batch, 10, frames\]")):
            with self.assertRaisesRegex(tfc.Error, word):
                self.model(input_features=given, decoder_input_ids=[[90]])
        for words, word in (
                (dict(language="xx"), "language: expected one of de, en, got "
                 "'xx'"),
                (dict(task="sing"), "task: expected one of transcribe, "
                 "translate, got 'sing'"),
                (dict(sound=[[0.0]]), "none, several or stop"),
                (dict(stop=["a"]), "none, several or stop")):
            with self.assertRaisesRegex(tfc.Error, word):
                self.model.generate(input_features=self.features, **words)
        with self.assertRaisesRegex(tfc.Error, "expected texts"):
            self.model.generate()
        with self.assertRaisesRegex(tfc.Error, "language: expected a text, got"
                                    " 5"):
            self.model.generate(input_features=self.features, language=5)
        with self.assertRaisesRegex(tfc.Error, r"got \[0, 10, 26\]"):
            self.model.generate(input_features=np.zeros((0, 10, 26)))
        self.assertEqual(self.model.generate(sound=[]), [])
        for name, word in (("sound", "a.wav"), ("input_features", [[[0.0]]]),
                           ("language", "en"), ("task", "transcribe")):
            with self.assertRaisesRegex(tfc.Error, f"{name}: expected none "
                                        "beside texts"):
                self.model.generate("a", **{name: word})
        for other in (shared.stories(), shared.golden("whisper-cls")):
            with self.assertRaisesRegex(tfc.Error, "writes what it hears"):
                other.generate(sound=np.zeros(400))
        with tfc.Session(self.model) as session:
            with self.assertRaisesRegex(tfc.Error, "whose encoder reads token "
                                        "ids"):
                session.add([1, 2], max_new_tokens=3)


if __name__ == "__main__":
    unittest.main()
