#!/usr/bin/env python3
# Shows that the examples' text is what it says: the training text is the same
# on every machine, what is held out stays out, ids and text are one another.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import itertools
import os
import sys
import unittest
import zlib

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                        "examples")
sys.path.insert(0, os.path.join(EXAMPLES, "train"))

import dates
import stories
import text


def take(count, source):
    return list(itertools.islice(source, count))


def checksum(lines):
    return zlib.crc32("\n".join(lines).encode())


class DatesTest(unittest.TestCase):
    def test_same_everywhere(self):
        pairs = take(2000, dates.make_pairs(7))
        self.assertEqual(pairs, take(2000, dates.make_pairs(7)))
        self.assertEqual(checksum(map(" = ".join, pairs)), DATES)

    def test_another_seed_is_another_text(self):
        self.assertNotEqual(take(20, dates.make_pairs(7)),
                            take(20, dates.make_pairs(8)))

    def test_held_out(self):
        shown = {iso for _, iso in take(9000, dates.make_pairs(7))}
        hidden = {iso for _, iso in take(9000, dates.make_pairs(7, True))}
        self.assertFalse(shown & hidden)
        self.assertGreater(len(hidden), 4000)

    def test_words(self):
        draw = dates.random.Random(1)
        self.assertEqual([dates.day_words(day) for day in (1, 12, 20, 21, 30)],
                         ["first", "twelfth", "twentieth", "twenty-first",
                          "thirtieth"])
        self.assertEqual([dates.day_ordinal(day) for day in (1, 11, 22, 23)],
                         ["1st", "11th", "22nd", "23rd"])
        said = {dates.year_words(draw, 1905) for _ in range(99)}
        self.assertEqual(said, {"nineteen oh five", "nineteen hundred five",
                                "nineteen hundred and five"})
        said = {dates.year_words(draw, 2000) for _ in range(99)}
        self.assertEqual(said, {"two thousand"})

    def test_readings(self):
        self.assertEqual(dates.readings("3/4/1994", "1994-04-03"),
                         {"1994-04-03", "1994-03-04"})
        for given, iso in (("3/3/94", "1994-03-03"), ("13/4/94", "1994-04-13"),
                           ("1994/4/3", "1994-04-03"),
                           ("3.4.1994", "1994-04-03")):
            self.assertEqual(dates.readings(given, iso), {iso})


class StoriesTest(unittest.TestCase):
    def test_same_everywhere(self):
        told = take(500, stories.make_stories(7))
        self.assertEqual(told, take(500, stories.make_stories(7)))
        self.assertEqual(checksum(told), STORIES)

    def test_held_out(self):
        for hidden in (False, True):
            for told in take(200, stories.make_stories(7, hidden)):
                words = stories.parse_story(told)
                self.assertEqual(stories.is_held_out(
                    words["hero"], words["animal"], words["place"]), hidden)

    def test_parsed(self):
        told = next(stories.make_stories(7))
        for slot, word in stories.parse_story(told).items():
            self.assertIn(word, told, slot)

    def test_names_begin_with_different_letters(self):
        self.assertEqual(len({name[0] for name in stories.PRONOUNS}),
                         len(stories.PRONOUNS))

    def test_a_story_is_one(self):
        for told in take(500, stories.make_stories(7)):
            self.assertIsNotNone(stories.parse_story(told), told)

    def test_another_word_is_noticed(self):
        given = ("Once upon a time a shy duck named Tilda lived by the river. "
                 "One day she could not find her hat. Bruno the snail crept "
                 "over. \"Look under the wooden bridge, Tilda,\" said Bruno. "
                 "Tilda waddled there, and there was the hat! \"Thank you, "
                 "Bruno,\" said Tilda.")
        self.assertIsNotNone(stories.parse_story(given))
        for old, new in (("waddled", "swam"), ("crept", "flew"),
                         ("day she", "day he"), ("her hat", "his hat"),
                         ("the hat!", "the key!"), ("wooden bridge", "beach"),
                         ("bridge, Tilda", "bridge, Bruno"),
                         ("said Bruno", "said Tilda"),
                         ("Bruno the snail", "Bruno the duck"),
                         ("said Tilda.", "said Tilda. The end."),
                         (" One day she could not find her hat.", "")):
            self.assertIn(old, given)
            self.assertIsNone(stories.parse_story(given.replace(old, new)),
                              new)


class TextTest(unittest.TestCase):
    def test_there_and_back(self):
        for line in ("3 March", "", "Žofie, naïve\n"):
            self.assertEqual(text.to_text(text.to_ids(line)), line)
        self.assertEqual(text.to_ids("a"), [ord("a") + 3])

    def test_special_tokens_are_no_text(self):
        ids = ([text.PAD, text.BEGIN] + text.to_ids("ab") +
               [text.END] + text.to_ids("c") + [text.PAD])
        self.assertEqual(text.to_text(ids), "ab")

    def test_inputs(self):
        a, b, c = text.to_ids("abc")
        self.assertEqual(text.make_inputs(["abc", "b"], False), {
            "input_ids": [[2, a, b, c], [0, 0, 2, b]],
            "attention_mask": [[1, 1, 1, 1], [0, 0, 1, 1]]})
        self.assertEqual(text.make_inputs(["abc", "b"], True), {
            "input_ids": [[a, b, c, 1], [b, 1, 0, 0]],
            "attention_mask": [[1, 1, 1, 1], [1, 1, 0, 0]]})


# CRC-32 of the lines: another one is another training text, and then the
# models in examples/models are no longer what the scripts make.
DATES, STORIES = 427370399, 1430612558

if __name__ == "__main__":
    unittest.main()
