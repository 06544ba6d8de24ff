# Sounds at the server's addresses: what comes is what the model makes of each
# alone, in all forms, and what is wrong is refused by name.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import http.client
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
import wave

import numpy as np

import shared  # noqa: F401
import tfcompiler as tfc
from serving import Served, word_folder
from tfcompiler._subtitles import subtitles

try:
    import python_multipart  # noqa: F401
except ImportError as error:
    raise unittest.SkipTest(f"{error} (sounds at the server need it)")

AT = "/v1/audio/transcriptions"
MODEL = "whisper-times"
EDGE = "x-edge-of-parts"


def samples(seed, seconds):
    """Noise of which the loudness changes, so that windows differ."""
    random = np.random.default_rng(seed)
    count = int(16000 * seconds)
    loud = np.sin(np.arange(count) / 900) ** 2
    return (random.uniform(-9000, 9000, count) * loud).astype("<i2")


def wav(data, rate=16000, channels=1):
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", "not compressed"))
        file.writeframes(data.tobytes())
    return stream.getvalue()


def form(fields, file=None, name="a.wav"):
    """The body of a form; fields: pairs."""
    parts = [f'--{EDGE}\r\nContent-Disposition: form-data; name="{key}"'
             f"\r\n\r\n{value}\r\n".encode() for key, value in fields]
    if file is not None:
        parts.append(
            f'--{EDGE}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{name}"\r\nContent-Type: audio/wav\r\n\r\n'.encode()
            + file + b"\r\n")
    return b"".join(parts) + f"--{EDGE}--\r\n".encode()


class Transcriptions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = word_folder(cls.scratch.name, MODEL,
                             {88: "<|startofprev|>"})
        encoder = word_folder(cls.scratch.name, "sentence-mean")
        cls.model = tfc.compile(folder, target="cpu")
        # Much longer and shorter than the 0.26 seconds that it hears at once.
        cls.sounds = [samples(seed, seconds) for seed, seconds in enumerate(
            (1.3, 0.2, 0.9, 2.0))]
        cls.server = Served(folder, encoder).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.scratch.cleanup()
        assert cls.server.status == 0, cls.server.status

    def post(self, body, at=AT, kind=f"multipart/form-data; boundary={EDGE}"):
        """Status, what is answered, headers."""
        request = urllib.request.Request(self.server.url + at, body,
                                         {"content-type": kind})
        try:
            with urllib.request.urlopen(request, timeout=60) as found:
                return found.status, found.read(), found.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read(), error.headers

    def ask(self, data, at=AT, **fields):
        status, made, _ = self.post(form(fields.items(), wav(data)), at)
        self.assertEqual(status, 200, made)
        return made.decode()

    def alone(self, data, **words):
        return self.model.generate(sound=data / np.float32(32768), **words)

    def until(self, holds, what, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), end, f"expected {what}")
            time.sleep(0.1)

    def refused(self, body, status, code, part, **how):
        got, made, headers = self.post(body, **how)
        self.assertEqual(got, status, made)
        error = json.loads(made)["error"]
        self.assertEqual(error["code"], code)
        self.assertIn(part, error["message"])
        return error, headers

    def test_texts_are_those_of_generate(self):
        for data in self.sounds:
            alone = self.alone(data, language="de").strip()
            self.assertTrue(alone)
            made = json.loads(self.ask(data, language="de"))
            self.assertEqual(made["text"], alone)
            self.assertEqual(made["usage"]["type"], "duration")
            self.assertEqual(made, json.loads(self.ask(
                data, language="german", temperature="0", prompt="")))
            self.assertEqual(self.ask(data, language="de",
                                      response_format="text"), alone + "\n")

    def test_prompts_are_those_of_generate(self):
        """What was said before every window; of much of it the end."""
        hears_another = False
        for data in self.sounds:
            said = "w9 w12  w30 "
            alone = self.alone(data, language="de", prompt=said).strip()
            self.assertEqual(json.loads(self.ask(
                data, language="de", prompt=said))["text"], alone)
            hears_another |= alone != self.alone(data, language="de").strip()
        self.assertTrue(hears_another)
        # Half of its 48 positions, less the one that begins it.
        last = " ".join(f"w{number}" for number in range(30, 53))
        data = self.sounds[0]
        self.assertEqual(self.alone(data, prompt="w7 w8 w9 " + last),
                         self.alone(data, prompt=last))
        self.assertNotEqual(self.alone(data, prompt=last[4:]),
                            self.alone(data, prompt=last))

    def test_segments_are_those_of_generate(self):
        for data in self.sounds:
            alone = self.alone(data, return_timestamps=True,
                               task="transcribe")
            made = json.loads(self.ask(
                data, response_format="verbose_json",
                **{"timestamp_granularities[]": "segment"}))
            self.assertEqual(made["text"], alone.text.strip())
            self.assertEqual(made["language"], {
                "de": "german", "en": "english"}[alone.language])
            self.assertAlmostEqual(made["duration"], len(data) / 16000, 9)
            self.assertEqual(
                [(each["start"], each["end"], each["text"], each["seek"],
                  tuple(each["tokens"])) for each in made["segments"]],
                [(each.start, each.end, each.text, each.seek, each.tokens)
                 for each in alone.segments])
            self.assertEqual([each["id"] for each in made["segments"]],
                             list(range(len(alone.segments))))

    def test_subtitles(self):
        data = self.sounds[0]
        parts = self.alone(data, return_timestamps=True, language="de").segments
        self.assertGreater(len(parts), 3)
        blocks = self.ask(data, language="de", response_format="srt").split(
            "\n\n")
        self.assertEqual((len(blocks), blocks[-1]), (len(parts) + 1, ""))
        for number, (block, part) in enumerate(zip(blocks, parts), 1):
            begin, end = (f"00:00:0{each:.3f}".replace(".", ",")
                          for each in (part.start, part.end))
            self.assertEqual(block.split("\n", 2), [
                str(number), f"{begin} --> {end}", part.text.strip()])
        made = self.ask(data, language="de", response_format="vtt")
        self.assertTrue(made.startswith(
            f"WEBVTT\n\n00:00:0{parts[0].start:.3f} --> "
            f"00:00:0{parts[0].end:.3f}\n{parts[0].text.strip()}\n\n00:00:"))

    def test_clocks_and_marks(self):
        from tfcompiler._subtitles import _cue
        part = tfc.Segment(3599.9996, 36001.0414, " a <b> &\n --> c ", (), 0)
        self.assertEqual(_cue("srt", 7, part), "7\n01:00:00,000 --> 10:00:01,"
                         "041\na <b> & -> c\n\n")
        self.assertEqual(_cue("vtt", 7, part), "01:00:00.000 --> 10:00:01.041"
                         "\na &lt;b&gt; &amp; --&gt; c\n\n")

    def test_translations(self):
        data = self.sounds[0]
        made = json.loads(self.ask(data, "/v1/audio/translations",
                                   response_format="verbose_json"))
        alone = self.alone(data, task="translate", return_timestamps=True)
        self.assertEqual((made["task"], made["text"]),
                         ("translate", alone.text))
        self.assertNotEqual(made["text"], self.alone(
            data, task="transcribe", return_timestamps=True).text)
        self.refused(form([("language", "de")], wav(data)), 400,
                     "unknown_field", "/language",
                     at="/v1/audio/translations")

    def test_draws_can_be_asked_for_again(self):
        data = self.sounds[0]
        _, made, headers = self.post(form([("temperature", "0.9")], wav(data)))
        seed = int(headers["x-tfc-seed"])
        again = self.ask(data, temperature="0.9", seed=str(seed))
        self.assertEqual(made.decode(), again)
        self.assertEqual(json.loads(again)["text"], self.alone(
            data, task="transcribe", do_sample=True, temperature=0.9,
            seed=seed))
        self.assertNotEqual(again, self.ask(data, temperature="0.9",
                                            seed=str(seed ^ 1)))

    def test_answers_do_not_depend_on_who_else_asks(self):
        hows = [(data, dict(response_format=kind, language=language))
                for data in self.sounds for language in ("de", "en")
                for kind in ("verbose_json", "srt", "text")]
        alone = [self.ask(data, **how) for data, how in hows]
        self.assertGreater(len(set(alone)), 20)
        order = np.random.default_rng(5).permutation(2 * len(hows)) % len(hows)
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            made = list(pool.map(lambda at: self.ask(hows[at][0],
                                                     **hows[at][1]), order))
        self.assertEqual(made, [alone[at] for at in order])

    def test_clients_of_openai(self):
        try:
            import openai
        except ImportError as error:
            self.skipTest(str(error))
        client = openai.OpenAI(base_url=self.server.url + "/v1", api_key="k",
                               max_retries=0)
        data = self.sounds[0]
        alone = self.alone(data, return_timestamps=True, language="de")
        file = ("speech.wav", wav(data))
        made = client.audio.transcriptions.create(
            model=MODEL, file=file, language="de",
            response_format="verbose_json",
            timestamp_granularities=["segment"])
        self.assertEqual([(each.start, each.end, each.text)
                          for each in made.segments],
                         [(each.start, each.end, each.text)
                          for each in alone.segments])
        self.assertEqual(made.language, "german")
        made = client.audio.transcriptions.create(
            model=MODEL, file=file, language="de", temperature=0)
        self.assertEqual(made.text, self.alone(data, language="de"))
        made = client.audio.transcriptions.create(
            model=MODEL, file=file, language="de", response_format="srt")
        self.assertEqual(made, self.ask(data, language="de",
                                        response_format="srt"))
        made = client.audio.translations.create(model=MODEL, file=file)
        self.assertEqual(made.text, self.alone(data, task="translate"))
        made = client.audio.transcriptions.create(
            model=MODEL, file=file, language="de", prompt="w9 w12")
        self.assertEqual(made.text, self.alone(data, language="de",
                                               prompt="w9 w12").strip())
        with self.assertRaisesRegex(openai.NotFoundError, "whisper-times"):
            client.audio.transcriptions.create(model="whisper-1", file=file)

    def test_wrong_requests_are_refused_by_name(self):
        good = wav(self.sounds[1])
        for fields, code, part in (
                ([("prompt", "w7 <|startofprev|>")], "invalid_value",
                 "prompt: expected a text without special tokens"),
                ([("prompt", "w7 " * 4000)], "invalid_value",
                 "/prompt: expected at most 10000 characters, got 12000"),
                ([("langauge", "de")], "unknown_field",
                 "did you mean 'language'?"),
                ([("language", "xx")], "invalid_value",
                 "language: expected one of de, en, got 'xx'"),
                ([("response_format", "mp4")], "invalid_value", "verbose_json"),
                ([("temperature", "warm")], "invalid_value", "/temperature"),
                ([("temperature", "1.5")], "invalid_value", "from 0 to 1"),
                ([("temperature", "nan")], "invalid_value", "from 0 to 1"),
                ([("seed", "x")], "invalid_value", "/seed"),
                ([("stream", "true")], "invalid_value", "/stream"),
                ([("include[]", "logprobs")], "unsupported_value", "/include"),
                ([("timestamp_granularities[]", "word")], "unsupported_value",
                 "times of words"),
                ([("timestamp_granularities[]", "segment")],
                 "unsupported_value", "verbose_json only"),
                ([("model", "sentence-mean")], "unsupported_value",
                 "writes what it hears"),
                ([("language", "de")] * 2, "invalid_form", "each once"),
                ([("", "de")], "invalid_form", "one without"),
                ([(f"x{number}", "") for number in range(99)], "invalid_form",
                 "64 fields"),
                ([("language", "d" * 70000)], "invalid_form", "65536 bytes"),
                ([("file", "de")], "invalid_form", "each once")):
            self.refused(form(fields, good), 400, code, part)
        self.assertEqual(self.refused(form([("language", "xx")], good), 400,
                                      "invalid_value", "language")[0]["param"],
                         "/language")
        self.refused(form([("model", MODEL)]), 400, "missing_field", "/file")
        self.refused(form([("file", "abc")]), 400, "invalid_value",
                     "/file: expected a file")

    def test_wrong_sounds_are_refused(self):
        good = wav(self.sounds[1])
        for file, name, code, part in (
                (b"ID3\3" + bytes(400), "a.mp3", "unsupported_value",
                 "expected a WAV file (ffmpeg -i IN -ar 16000"),
                (b"", "a.wav", "unsupported_value", "expected a WAV file"),
                (good[:20], "a.wav", "invalid_value", "got its end"),
                (wav(self.sounds[1][:0]), "a.wav", "invalid_value",
                 "got 0 samples"),
                (wav(self.sounds[1], 44100), "a.wav", "invalid_value",
                 "expected 16000 samples a second of 16 bits, got 44100 of "
                 "16 (ffmpeg -i IN -ar 16000")):
            error, _ = self.refused(form([], file, name), 400, code, part)
            self.assertEqual(error["param"], "/file")
        # As in Python: heard as far as it is there.
        made = json.loads(self.post(form([("language", "de")], good[:-200]))[1])
        self.assertEqual(made["text"], self.alone(self.sounds[1][:-100],
                                                  language="de"))
        self.refused(form([], bytes(25 << 20)), 413, "body_too_large",
                     str(25 << 20))

    def test_wrong_forms_are_refused(self):
        body = form([("model", MODEL)], wav(self.sounds[1]))
        self.refused(body[:-20], 400, "invalid_form", "cut off")
        self.refused(body.replace(b"\r\n\r\n", b"\r\0\r\n", 1), 400,
                     "invalid_form", "expected a form")
        self.refused(body.replace(b'"model"', b'"mod\xff"'), 400,
                     "invalid_form", "UTF-8")
        self.refused(b"", 400, "invalid_form", "cut off")
        for kind in ("application/json", "multipart/form-data", ""):
            self.refused(body, 415, "form_expected", "boundary", kind=kind)

    def test_any_body_is_answered(self):
        """Of forms with some bytes changed."""
        random = np.random.default_rng(3)
        body = np.frombuffer(form([("model", MODEL)], wav(
            self.sounds[1][:320])), np.uint8)
        statuses = set()
        for _ in range(150):
            changed = body.copy()
            places = random.integers(0, 320, random.integers(1, 4))
            changed[places] = random.integers(0, 256, len(places))
            statuses.add(self.post(changed.tobytes())[0])
        self.assertLessEqual(statuses, {200, 400, 404})
        self.assertGreater(len(statuses), 1)

    def test_there_are_not_many_at_once(self):
        host = self.server.url.split("//")[1]
        waiting = []
        for _ in range(16):
            gone = http.client.HTTPConnection(host, timeout=60)
            gone.putrequest("POST", AT)
            gone.putheader("content-length", "100")
            gone.endheaders(b"--")
            waiting.append(gone)
        # The server hears of them when it comes to it.
        body = form([], wav(self.sounds[1]))
        self.until(lambda: self.post(body)[0] == 429,
                   "a refusal of more than 16 sounds at once")
        _, headers = self.refused(body, 429, "queue_full", "16 sounds at once")
        self.assertEqual(headers["retry-after"], "1")
        for gone in waiting:
            gone.close()
        self.until(lambda: self.post(body)[0] == 200,
                   "room where others have gone")

    def test_on_the_command_line(self):
        """tfc transcribe."""
        paths = []
        for number, data in enumerate(self.sounds[:2]):
            paths.append(os.path.join(self.scratch.name, f"{number}.wav"))
            with open(paths[-1], "wb") as stream:
                stream.write(wav(data))

        def said(*words, status=0):
            made = subprocess.run(
                [sys.executable, "-B", "-m", "tfcompiler", "transcribe",
                 "--target", "cpu", str(self.model.folder), *words],
                capture_output=True, text=True, timeout=100)
            self.assertEqual(made.returncode, status, made.stderr)
            return made.stdout if not status else made.stderr
        texts = [self.alone(data, language="de") for data in self.sounds[:2]]
        self.assertEqual(said(*paths, "--language", "de"),
                         "".join(text.strip() + "\n" for text in texts))
        alone = self.alone(self.sounds[0], task="translate",
                           return_timestamps=True)
        self.assertEqual(said(paths[0], "--task", "translate", "--format",
                              "vtt"), subtitles("vtt", alone.segments))
        made = json.loads(said(paths[0], "--task", "translate", "--format",
                               "json"))
        self.assertEqual((made["file"], made["segments"][1]["end"]),
                         (paths[0], alone.segments[1].end))
        self.assertIn("no such file", said(paths[0] + "x", status=1))

    def test_a_package_that_is_not_there_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "python_multipart.py"),
                      "w") as stream:
                stream.write("raise ModuleNotFoundError('none')")
            path = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
            made = subprocess.run(
                [sys.executable, "-B", "-m", "tfcompiler", "serve", "--port",
                 "0", "--target", "cpu", str(self.model.folder)],
                capture_output=True, text=True, timeout=100,
                env={**os.environ, "PYTHONPATH": path})
        self.assertEqual(made.returncode, 1)
        self.assertIn("expected the package python-multipart", made.stderr)

    def test_clients_that_go_are_heard_no_further(self):
        """Four sounds of 700 seconds, which would take a minute at least."""
        body = form([], wav(samples(1, 700)))
        with Served(self.model.folder, "--drain-timeout", "50") as server:
            def has(running, waiting):
                told = server.get("/metrics")
                return all(f'{name}{{model_name="{MODEL}"}} {count}\n' in told
                           for name, count in (("running", running),
                                               ("waiting", waiting)))
            gone = []
            for _ in range(4):
                gone.append(http.client.HTTPConnection(
                    server.url.split("//")[1]))
                gone[-1].request("POST", AT, body, {"content-type":
                                 f"multipart/form-data; boundary={EDGE}"})
            self.until(lambda: has(1, 3), "four sounds")
            for each in gone:
                each.close()
            self.until(lambda: has(0, 0), "none of them", 30)
        self.assertEqual(server.status, 0)


if __name__ == "__main__":
    unittest.main()
