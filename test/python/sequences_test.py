# Sessions as Python's users see them: sequences that come and go.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import asyncio
import os
import signal
import threading
import unittest

import numpy as np

import shared
import tfcompiler as tfc

PROMPTS = ["Once upon a time", "One day", "The rain"]


def run(session):
    """What is written for each sequence."""
    texts = {}
    for new in session:
        texts[new.sequence] = texts.get(new.sequence, "") + new.text
    return texts


class Sequences(unittest.TestCase):
    def setUp(self):
        self.model = shared.stories()
        self.alone = [self.model.generate(prompt, max_new_tokens=30)
                      for prompt in PROMPTS]

    def test_come_while_others_run(self):
        with tfc.Session(self.model, max_step_tokens=7) as session:
            texts, left = {}, list(PROMPTS)
            numbers = [session.add(left.pop(0), max_new_tokens=30)]
            for new in session:
                texts[new.sequence] = texts.get(new.sequence, "") + new.text
                if left and len(texts.get(numbers[-1], "")) == 5:
                    numbers.append(session.add(left.pop(0), max_new_tokens=30))
            self.assertEqual([texts[number] for number in numbers], self.alone)
            self.assertEqual(session.step(), [])
            self.assertEqual(session.info.n_sequences, 0)

    def test_pause_go_on_and_go(self):
        with tfc.Session(self.model) as session:
            first, other = (session.add(prompt, max_new_tokens=30)
                            for prompt in PROMPTS[:2])
            texts = {first: session.step()[0].text}
            session.pause(first)
            self.assertEqual(session.info.n_paused, 1)
            self.assertGreater(session.info.max_cache_bytes,
                               session.info.cache_bytes)
            self.assertEqual({new.sequence for new in session}, {other})
            session.resume(first)
            third = session.add(PROMPTS[2])
            session.step()
            session.remove(third)
            with self.assertRaisesRegex(tfc.Error, "expected a seq") as raised:
                session.remove(third)
            self.assertEqual(raised.exception.code, tfc.Code.NOT_FOUND)
            self.assertEqual(set(run(session)), {first})
        self.assertEqual(len(texts), 1)

    def test_fork_with_their_texts(self):
        # A letter of two bytes, the first of which is there at the fork.
        letter = self.model.tokenizer.encode("\u00e9",
                                             add_special_tokens=False).ids
        wanted = iter(letter[:1])

        def force(sequence, logits):
            logits[:] = -np.inf
            logits[next(wanted)] = 0

        with tfc.Session(self.model, on_logits=force) as session:
            number = session.add([2, 82], max_new_tokens=2, text=True)
            self.assertEqual(session.step()[0].text, "")
            wanted = iter([letter[1]] * 2)
            other = session.fork(number)
            self.assertEqual([new.text for new in session.step()],
                             ["\u00e9"] * 2)
        with tfc.Session(self.model) as session:
            number = session.add(PROMPTS[0], max_new_tokens=30)
            begin = "".join(session.step()[0].text for _ in range(9))
            other = session.fork(number)
            drawn = session.fork(number, do_sample=True, seed=4)
            texts = run(session)
        self.assertEqual(begin + texts[number], self.alone[0])
        self.assertEqual(texts[other], texts[number])
        self.assertNotEqual(texts[drawn], texts[number])

    def test_end_as_they_say(self):
        with tfc.Session(self.model) as session:
            session.add([2, 82], max_new_tokens=2)
            made = list(session)
            self.assertEqual([new.state for new in made],
                             [tfc.State.RUNNING, tfc.State.LENGTH_REACHED])
            self.assertEqual([new.is_last for new in made], [False, True])
            self.assertEqual({new.text for new in made}, {""})
            token = made[0].token
            session.add([2, 82], eos_token_id=token)
            self.assertEqual(session.step()[0].state, tfc.State.ENDED)
            session.add([2, 82], stop=[[token]])
            self.assertEqual(session.step()[0].state, tfc.State.STOPPED)

    def test_of_an_encoder_decoder(self):
        model = shared.dates()
        with tfc.Session(model) as session:
            numbers = [session.add(text) for text in ("3 May 1999", "4.5.99")]
            session.add("3 May 1999", max_new_tokens=1,
                        decoder_input_ids=[2, 50])
            texts = run(session)
        self.assertEqual(texts[numbers[0]], "1999-05-03")

    def test_tell_how_likely_tokens_were(self):
        with tfc.Session(self.model) as session:
            number = session.add([2, 82], logprobs=3)
            plain = session.add([2, 83])
            new, other = session.step()
        logits = self.model(input_ids=[[2, 82]])["logits"][0, -1]
        logits = logits.astype(np.float64)
        wanted = logits - np.log(np.exp(logits).sum())
        best = np.argsort(-wanted)[:3]
        self.assertEqual([token for token, _ in new.likeliest], list(best))
        np.testing.assert_allclose([value for _, value in new.likeliest],
                                   wanted[best], atol=1e-4)
        self.assertEqual((new.sequence, new.token, new.logprob),
                         (number, best[0], new.likeliest[0][1]))
        self.assertEqual((other.sequence, other.logprob, other.likeliest),
                         (plain, None, ()))

    def test_take_biases(self):
        with tfc.Session(self.model) as session:
            session.add([2, 82])
            token = session.step()[0].token
            session.add([2, 82], logit_bias={token: -np.inf, 99: 1000})
            self.assertEqual(session.step()[-1].token, 99)
            for bias in ({2**64: 1}, {3: "a"}):
                with self.assertRaisesRegex(tfc.Error, "logit_bias"):
                    session.add([2], logit_bias=bias)

    def test_refuse_what_is_none(self):
        with tfc.Session(self.model) as session:
            for words, named in (
                    ("expected one beam", {"num_beams": 2}),
                    ("logprobs: expected an integer", {"logprobs": None}),
                    ("logprobs: expected an integer", {"logprobs": 2**32 + 1}),
                    ("stop: expected texts that are", {"stop": [""]}),
                    ("max_new_tokens: expected", {"max_new_tokens": 0})):
                with self.assertRaisesRegex(tfc.Error, words):
                    session.add([2], **named)
            with self.assertRaisesRegex(tfc.Error, "prompt.0.: expected an"):
                session.add([2.5])
            with self.assertRaisesRegex(tfc.Error, "sequence: expected an"):
                session.remove(2**64 + 1)
            with self.assertRaises(tfc.Error):
                session.fork(7)
            session.add([2], stop=[[5]])
        with self.assertRaisesRegex(tfc.Error, "with stream.., for text as"):
            with tfc.Session(shared.golden("gpt2-lm")) as session:
                session.add([3], text=True)
        with self.assertRaisesRegex(tfc.Error, "max_step_tokens: expected"):
            tfc.Session(self.model, max_step_tokens=-1)


class Callbacks(unittest.TestCase):
    def test_see_logits_only_during_the_call(self):
        kept = []
        with tfc.Session(shared.stories(),
                         on_logits=lambda _, logits: kept.append(logits)
                         ) as session:
            session.add([2, 82])
            token = session.step()[0].token
        self.assertEqual(kept[0].argmax(), token)  # and is no loose pointer
        kept[0][:] = 0

    def test_call_no_step_of_their_own(self):
        faults = []

        def again(sequence, logits):
            for call in (session.step, lambda: session.fork(sequence),
                         lambda: session.info):
                try:
                    call()
                except tfc.Error as error:
                    faults.append(str(error))

        session = tfc.Session(shared.stories(), on_logits=again)
        session.add([2, 82])
        self.assertEqual(len(session.step()), 1)
        self.assertEqual(len(faults), 3)
        self.assertIn("expected one call at a time", faults[0])

    def test_that_raise_lose_no_token(self):
        def fail(sequence, logits):
            if len(made) == 2:
                made.append(None)
                raise ZeroDivisionError("mine")

        def tokens(on_logits=None):
            with tfc.Session(shared.stories(), on_logits=on_logits) as session:
                session.add([2, 82], max_new_tokens=5)
                while True:
                    try:
                        for new in session:
                            made.append(new.token)
                        return [token for token in made if token is not None]
                    except ZeroDivisionError:
                        pass

        made = []
        wanted = tokens()
        made = []
        self.assertEqual(tokens(fail), wanted)

    def test_give_nothing_back(self):
        with tfc.Session(shared.stories(),
                         on_logits=lambda _, logits: -logits) as session:
            session.add([2])
            with self.assertRaisesRegex(tfc.Error, "changed in place"):
                session.step()

    def test_stop_a_step_that_is_done_again(self):
        stops = [True]
        with tfc.Session(shared.stories(),
                         should_stop=lambda: bool(stops and stops.pop())
                         ) as session:
            session.add("Once", max_new_tokens=5)
            with self.assertRaises(tfc.Error) as raised:
                session.step()
            self.assertEqual(raised.exception.code, tfc.Code.CANCELLED)
            self.assertEqual("".join(new.text for new in session),
                             shared.stories().generate("Once",
                                                       max_new_tokens=5))

    def test_ctrl_c_ends_one_step(self):
        asked = []

        def interrupt():
            asked.append(1)
            if len(asked) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            return False

        with tfc.Session(shared.stories(), should_stop=interrupt) as session:
            session.add([2, 82], max_new_tokens=3)
            with self.assertRaises(KeyboardInterrupt):
                session.step()
            self.assertEqual(len(list(session)), 3)


class Threads(unittest.TestCase):
    def test_add_during_steps(self):
        model, texts = shared.stories(), {}
        wanted = model.generate("One day", max_new_tokens=9)
        with tfc.Session(model) as session:
            numbers = [session.add("Once", max_new_tokens=300,
                                   eos_token_id=None)]

            def add():
                for _ in range(10):
                    numbers.append(session.add("One day", max_new_tokens=9))

            threads = [threading.Thread(target=add) for _ in range(3)]
            for thread in threads:
                thread.start()
            texts = run(session)
            for thread in threads:
                thread.join()
            texts.update(run(session))
        self.assertEqual(len(texts), 31)
        self.assertEqual({texts[number] for number in numbers[1:]}, {wanted})


class Stops(unittest.TestCase):
    def test_are_found_wherever_tokens_end(self):
        model = shared.stories()
        whole = [model.generate(prompt, max_new_tokens=60)
                 for prompt in PROMPTS]
        stop = whole[0][10:13]
        wanted = [text[:text.index(stop) + 3] if stop in text else text
                  for text in whole]
        self.assertEqual(model.generate(PROMPTS, max_new_tokens=60,
                                        stop=[stop]), wanted)
        self.assertEqual(model.generate(PROMPTS[0], max_new_tokens=60,
                                        stop=stop), wanted[0])
        self.assertEqual("".join(model.stream(
            PROMPTS[0], max_new_tokens=60, stop=["nowhere", stop])), wanted[0])
        ids = model.tokenizer.encode(stop, add_special_tokens=False).ids
        self.assertEqual(model.generate(PROMPTS[0], max_new_tokens=60,
                                        stop=[ids, stop + "x"]), wanted[0])

    def test_inside_of_a_token(self):
        # A stop that one token goes beyond: the text ends with the stop.
        from tfcompiler._written import Written

        class Pieces:
            def push(self, token):
                return ("on", "e two th", "ree")[token]

            def finish(self):
                return "!"

        for stop, wanted in ((["e t"], "one t"), (["two", "ne"], "one"),
                             (["x"], "one two three!"), ([], "one two three!"),
                             (["three!"], "one two three!"),
                             (["hre"], "one two thre")):
            text, written = "", Written(Pieces, stop)
            for token in range(3):
                piece, is_stopped = written.push(token, False, token == 2)
                text += piece
                if is_stopped:
                    break
            self.assertEqual((text, is_stopped),
                             (wanted, stop not in ([], ["x"])))

    def test_with_draws_are_the_same_draws(self):
        model = shared.stories()
        words = {"max_new_tokens": 30, "do_sample": True, "seed": 5}
        whole = model.generate(PROMPTS, **words)
        self.assertEqual(model.generate(PROMPTS, stop=["\0"], **words), whole)
        with self.assertRaisesRegex(tfc.Error, "expected num_beams=1, got 2"):
            model.generate("a", stop=["x"], num_beams=2)


class Asynchronous(unittest.TestCase):
    def test_streams_run_beside_each_other(self):
        model = shared.stories()

        async def write(prompt):
            return "".join([piece async for piece in model.stream_async(
                prompt, max_new_tokens=20)])

        async def gather():
            return await asyncio.gather(*map(write, PROMPTS))

        self.assertEqual(asyncio.run(gather()),
                         model.generate(PROMPTS, max_new_tokens=20))

    def test_a_cancelled_task_ends_its_thread(self):
        model, pieces = shared.stories(), []

        asked, left = [], threading.Event()

        def ask():  # the first question of a step waits for the cancelling
            if len(pieces) >= 3:
                asked.append(1)
                loop.call_soon_threadsafe(loop.create_task, cancel())
                left.wait(60)
            return False

        async def write():
            async for piece in model.stream_async(
                    "Once", eos_token_id=None, max_new_tokens=400,
                    should_stop=ask):
                pieces.append(piece)

        async def cancel():
            task.cancel()
            for _ in range(20):
                await asyncio.sleep(0)
            left.set()

        async def run_both():
            nonlocal loop, task
            loop = asyncio.get_running_loop()
            task = loop.create_task(write())
            with self.assertRaises(asyncio.CancelledError):
                await task

        loop = task = None

        before = threading.active_count()
        asyncio.run(run_both())  # which waits for the threads of its loop
        self.assertEqual(threading.active_count(), before)
        self.assertEqual(len(asked), 1)  # the step did not go on
        self.assertLess(len(pieces), 5)

    def test_errors_come_through(self):
        async def write():
            async for piece in shared.stories().stream_async("a", top_k=-1):
                self.fail(piece)

        with self.assertRaisesRegex(tfc.Error, "top_k: expected"):
            asyncio.run(write())
