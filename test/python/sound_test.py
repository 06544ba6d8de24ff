# Encoders of sound: features become the rows that the model reads, and what the
# decoder begins with is made of a language and a task.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import shutil
import tempfile
import unittest
import wave

import numpy as np

import shared
import tfcompiler as tfc

NAME, MELS, POSITIONS = "whisper-lm", 10, 13
DTYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64}


def case(name, model=NAME):
    import tensors
    path = os.path.join(shared.GOLDEN, model, name + ".safetensors")
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
        from tfcompiler._sound import Prompt, settings_of
        def prompts(task):
            return Prompt(self.model, settings_of(self.model.folder), None,
                          task).rows(arrays, False)
        arrays = {"patches": self.inputs["patches"]}
        logits = self.model(**arrays, decoder_input_ids=[[90]] * 3)["logits"]
        heard = 91 + (logits[:, 0, 92] > logits[:, 0, 91])
        np.testing.assert_array_equal(
            prompts(None),
            [[90, each, 95] for each in heard])
        np.testing.assert_array_equal(
            prompts("translate"),
            [[90, each, 94, 95] for each in heard])

    def test_prompts(self):
        for wrong, part in (("w1", "expected no prompt"),
                            (7, "prompt: expected a text, got 7")):
            with self.assertRaisesRegex(tfc.Error, part):
                self.model.generate(input_features=self.features,
                                    prompt=wrong)
        with self.assertRaisesRegex(tfc.Error, "prompt: expected none"):
            shared.golden("gpt2-lm").generate("a", prompt="b")

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


class Times(unittest.TestCase):
    """Of a model that hears 26 frames at once, and whose tokens from 96 on are
    times."""

    def setUp(self):
        self.model = shared.golden("whisper-times")

    def long(self):
        """What transformers makes of a sound of several windows."""
        made = case("expected-long", "whisper-times")
        ends = np.cumsum(made["tokens"])
        return [(start, end, tuple(made["sequences"][0, last - count:last]))
                for start, end, count, last in zip(
                    made["start"], made["end"], made["tokens"], ends)]

    def test_ids(self):
        inputs = case("inputs-generate", "whisper-times")
        wanted = case("expected-generate", "whisper-times")["sequences"]
        how = dict(input_features=to_features(inputs["patches"]),
                   decoder_input_ids=inputs["decoder_input_ids"],
                   max_new_tokens=24)
        rule = dict(timestamp_begin=96, max_initial_timestamp_index=4)
        got = self.model.generate_ids(**how, **rule)
        np.testing.assert_array_equal(got.sequences, wanted)
        self.assertFalse(np.array_equal(
            self.model.generate_ids(**how).sequences, wanted))
        with tfc.Session(shared.stories()) as session:
            session.add([5, 6], max_new_tokens=3, timestamp_begin=100,
                        max_initial_timestamp_index=0)
            self.assertEqual([new.token for new in session][0], 100)
        with self.assertRaisesRegex(tfc.Error, "timestamp_begin: expected 0 or "
                                    "a token id below 110, got 110"):
            self.model.generate_ids(**how, timestamp_begin=110)
        with self.assertRaisesRegex(tfc.Error, "max_initial_timestamp: "
                                    "expected a number from -1 on, got -2"):
            self.model.generate_ids(**how, max_initial_timestamp_index=-2)

    def test_windows(self):
        features = case("inputs-long", "whisper-times")["features"]
        how = dict(language="de", max_new_tokens=24)
        got, = self.model.generate(input_features=features,
                                   return_timestamps=True, **how)
        self.assertEqual([(each.start, each.end, each.tokens)
                          for each in got.segments], self.long())
        said = [token for part in got.segments for token in part.tokens
                if token < 96]
        self.assertEqual(got.text, " ".join(map(str, said)))
        self.assertEqual((got.language, got.duration), ("de", 1.09))
        self.assertEqual([each.seek for each in got.segments][:4],
                         [0, 0, 0, 22])
        # What is longer than a window is heard so, without a word.
        self.assertEqual(self.model.generate(input_features=features, **how),
                         [got.text])

    def test_sounds_side_by_side_are_each_alone(self):
        random = np.random.default_rng(4)
        sounds = [random.uniform(-0.3, 0.3, int(16000 * seconds)).astype(
            np.float32) for seconds in (0.9, 0.1, 2.0, 0.26, 0.2701)]
        for how in (dict(language="en"), {}, dict(num_beams=2),
                    dict(do_sample=True, seed=7)):
            for times in (True, None):
                alone = [self.model.generate(
                    sound=each, return_timestamps=times, **how)
                    for each in sounds]
                self.assertEqual(self.model.generate(
                    sound=sounds, return_timestamps=times, **how), alone)
        self.assertEqual([round(each.duration, 4) for each in
                          self.model.generate(sound=sounds,
                                              return_timestamps=True)],
                         [0.9, 0.1, 2.0, 0.26, 0.2701])

    def test_long_sounds_are_their_features(self):
        """Those of all of it: what is loud far off makes the rest quiet."""
        from tfcompiler._sound import heard_features
        random = np.random.default_rng(6)
        sound = random.uniform(-0.3, 0.3, 16000 * 70) * np.linspace(
            0, 1, 16000 * 70)
        features, seconds = heard_features(sound, 10, 26)
        self.assertEqual((features.shape, seconds), ((10, 7000), 70.0))
        np.testing.assert_allclose(
            features, tfc.log_mel(sound, 10, seconds=70), atol=1e-6)
        made = self.model.generate(sound=sound[:40000],
                                   return_timestamps=True, language="de")
        features, _ = heard_features(sound[:40000], 10, 26)
        again, = self.model.generate(input_features=features[None],
                                     return_timestamps=True, language="de")
        self.assertEqual(made.segments, again.segments)
        ends = [each.end for each in made.segments]
        self.assertEqual(ends, sorted(ends))
        self.assertGreater(len(ends), 12)

    def test_parts_of_a_window(self):
        from tfcompiler._transcribe import split
        for tokens, parts, heard in (
                ([96, 1, 2], [(0, 13, [96, 1, 2])], 26),
                ([96, 1, 99], [(0, 3, [96, 1, 99])], 26),
                ([98, 1, 2], [(0, 2, [98, 1, 2])], 26),
                ([], [(0, 13, [])], 26),
                ([97, 1, 99, 99], [(1, 3, [97, 1, 99, 99])], 6),
                ([97, 1, 99, 99, 2], [(1, 3, [97, 1, 99, 99])], 6),
                ([97, 1, 99, 100, 2, 103],
                 [(1, 3, [97, 1, 99]), (4, 7, [100, 2, 103])], 26),
                ([97, 1, 99, 99, 2, 103, 104],
                 [(1, 3, [97, 1, 99]), (3, 7, [99, 2, 103, 104])], 14),
                ([96, 96], [(0, 0, [96, 96])], 2)):
            self.assertEqual(split(tokens, 96, 26), (parts, heard), tokens)

    def test_wrong_ones_are_refused(self):
        long = np.zeros(16000, np.float32)
        for words, word in (
                (dict(return_timestamps=False), "return_timestamps: expected "
                 "None or True of a sound of 100 frames"),
                (dict(do_sample=True, num_return_sequences=2),
                 "num_return_sequences: expected 1 of a sound with times")):
            with self.assertRaisesRegex(tfc.Error, word):
                self.model.generate(sound=long, **words)
        with self.assertRaisesRegex(tfc.Error, "return_timestamps: expected "
                                    "none beside texts"):
            self.model.generate("a", return_timestamps=True)
        for sound in (np.zeros(0), np.zeros(16000 * 86401, np.uint8)):
            with self.assertRaisesRegex(tfc.Error, "expected from one sample "
                                        "to 86400 seconds of them"):
                self.model.generate(sound=sound)
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "model")
            shutil.copytree(self.model.folder, folder)
            path = os.path.join(folder, "generation_config.json")
            with open(path) as stream:
                settings = json.load(stream)

            def model(**changes):
                with open(path, "w") as stream:
                    json.dump({**settings, **changes}, stream)
                return tfc.load(self.model._loaded_by[0], folder,
                                tokenizer=shared.Letters())
            with self.assertRaisesRegex(tfc.Error, "no no_timestamps_token_id"
                                        r"\), got 100 frames"):
                model(no_timestamps_token_id=None).generate(sound=long)
            for name in ("no_timestamps_token_id",
                         "max_initial_timestamp_index"):
                with self.assertRaisesRegex(tfc.Error, name):
                    model(**{name: "x"}).generate(sound=long)
            # Where the folder says so, without a word.
            self.assertEqual(
                model(return_timestamps=True).generate(sound=long[:160],
                                                       language="de"),
                self.model.generate(sound=long[:160], return_timestamps=True,
                                    language="de").text)


if __name__ == "__main__":
    unittest.main()
