#!/usr/bin/env python3
# Makes short stories about two animals, by a small grammar, and says whether a
# text is such a story: what train_stories.py learns from and is measured by.
# Run by itself it prints a few.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import functools
import itertools
import random
import re
import zlib

# What follows a word in the table depends on it: an owl flies, a frog jumps.
WORDS = {
    "animal": {
        "fox": {"went": "trotted"}, "owl": {"went": "flew"},
        "frog": {"went": "jumped"}, "mouse": {"went": "scurried"},
        "otter": {"went": "swam"}, "rabbit": {"went": "hopped"},
        "crow": {"went": "flapped"}, "squirrel": {"went": "leapt"},
        "snail": {"went": "crept"}, "bear": {"went": "lumbered"},
        "duck": {"went": "waddled"}, "pony": {"went": "galloped"},
    },
    "place": {
        "by the river": {"nook": "under the wooden bridge"},
        "in the forest": {"nook": "inside the hollow oak"},
        "on the hill": {"nook": "behind the three tall stones"},
        "near the sea": {"nook": "under the upturned boat"},
        "in the meadow": {"nook": "between the poppies"},
        "behind the mill": {"nook": "next to the big wheel"},
        "in the garden": {"nook": "under the rhubarb leaves"},
        "in the village": {"nook": "behind the baker's shop"},
    },
    "fear": {
        "the dark": {"cure": "looked up and counted the stars"},
        "thunder": {"cure": "sang until it was far away"},
        "deep water": {"cure": "put one foot in, and it was warm"},
        "high places": {"cure": "looked at the clouds and not down"},
        "strangers": {"cure": "said hello, and someone smiled"},
    },
    "food": {
        "a plum cake": {"rest": "the plate was empty"},
        "a pot of pumpkin soup": {"rest": "the pot was empty"},
        "a tray of honey buns": {"rest": "only crumbs were left"},
        "a stack of pancakes": {"rest": "the stack was gone"},
        "a basket of apples": {"rest": "only the cores were left"},
    },
    "seed": {
        "flat white": {"plant": "a pumpkin as big as a barrel"},
        "tiny black": {"plant": "a poppy as red as fire"},
        "striped": {"plant": "a sunflower as tall as the roof"},
        "round brown": {"plant": "a cherry tree full of blossom"},
        "long grey": {"plant": "a melon as sweet as honey"},
    },
    "weather": {
        "the wind blew the roof off": {
            "tool": "a ladder and a bag of nails",
            "end": "the roof was on again"},
        "the snow blocked the door of": {
            "tool": "two shovels", "end": "the door was free"},
        "the rain ran into": {
            "tool": "a mop and a bucket", "end": "the floor was dry"},
        "a branch broke the window of": {
            "tool": "a new pane of glass", "end": "the window was whole"},
    },
    "size": ["small", "big", "young", "quick", "clever", "shy", "brave"],
    "time": ["morning", "evening", "day", "night"],
    "thing": ["hat", "kite", "key", "drum", "scarf", "lantern", "ball"],
    "count": ["three", "four", "five", "six", "seven"],
}

# A story is one line of each part. {friend} is a {other}; she and her are the
# hero's.
ENDINGS = ["\"Thank you, {friend},\" said {hero}.",
           "{hero} and {friend} were the best of friends."]
STORIES = [
    [["Once upon a time a {size} {animal} named {hero} lived {place}."],
     ["One {time} {hero} lost {her} {thing}.",
      "One {time} {she} could not find {her} {thing}."],
     ["{friend} the {other} {other_went} over. \"Look {place_nook}, {hero},\" "
      "said {friend}."],
     ["{hero} {animal_went} there, and there was the {thing}!"],
     ENDINGS],
    [["{hero} the {animal} lived {place} and was afraid of {fear}."],
     ["{friend} the {other} told {hero}, \"When I was afraid of {fear}, I "
      "{fear_cure}.\""],
     ["So {hero} {fear_cure}, and {she} was not afraid any more."],
     ENDINGS],
    [["It was the birthday of {hero} the {animal}, but nobody {place} knew.",
      "It was the birthday of {hero} the {animal}, who lived {place}."],
     ["Then {friend} the {other} {other_went} by with {food}."],
     ["\"Happy birthday, {hero}!\" said {friend}, and they ate until "
      "{food_rest}."],
     ENDINGS],
    [["One {time} {hero} the {animal} found a {seed} seed {place}."],
     ["{hero} and {friend} the {other} planted it {place_nook}."],
     ["After {count} weeks it was {seed_plant}, and {hero} laughed."],
     ENDINGS],
    [["One {time} {weather} the house of {hero}, a {size} {animal} who lived "
      "{place}."],
     ["{friend} the {other} {other_went} over with {weather_tool}."],
     ["{hero} and {friend} worked for {count} hours, and then {weather_end}."],
     ENDINGS],
]

# Every name begins with another letter: a model that small says a name again
# by its first one.
NAMES = {"she": "Ada Cora Emma Greta Ines Kira Mina Olga Rosa Tilda Vera Wanda "
                "Zora".split(),
         "he": "Bruno Dan Finn Hugo Jonas Leo Nils Paul Quentin Sven Uwe "
               "Yann".split()}
PRONOUNS = {name: she for she, names in NAMES.items() for name in names}
OBJECT = {"she": "her", "he": "his"}
# Slots that are another word each time they are named.
FREE = ("time",)


def is_held_out(hero, animal, place):
    """An eighth of all heroes, each a name, an animal and a place, is never
    trained on."""
    return zlib.crc32(f"{hero} {animal} {place}".encode()) % 8 == 0


def words_of(slot):
    """The friend's animal is one of the animals."""
    if slot in ("hero", "friend"):
        return PRONOUNS
    return WORDS["animal" if slot == "other" else slot]


def complete(chosen):
    """Adds to the chosen words those that depend on them."""
    values = dict(chosen)
    for slot, word in chosen.items():
        if isinstance(words_of(slot), dict) and \
                isinstance(words_of(slot)[word], dict):
            for name, text in words_of(slot)[word].items():
                values[f"{slot}_{name}"] = text
    she = PRONOUNS[values["hero"]]
    return dict(values, she=she, her=OBJECT[she])


def choose(draw):
    """A word for each slot."""
    chosen = {slot: draw.choice(list(words)) for slot, words in WORDS.items()
              if slot not in FREE}
    chosen["other"] = draw.choice([word for word in WORDS["animal"]
                                   if word != chosen["animal"]])
    chosen["hero"], chosen["friend"] = draw.sample(list(PRONOUNS), 2)
    return chosen


def make_story(draw, held_out=False):
    """A story; of a hero that is held out, or of one that is not."""
    lines = [draw.choice(part) for part in draw.choice(STORIES)]
    chosen = choose(draw)
    while is_held_out(chosen["hero"], chosen["animal"],
                      chosen["place"]) != held_out:
        chosen = choose(draw)
    values = complete(chosen)
    return " ".join(
        line.format_map(dict(values, **{slot: draw.choice(WORDS[slot])
                                        for slot in FREE}))
        for line in lines)


def make_stories(seed, held_out=False):
    """Stories without end."""
    draw = random.Random(seed)
    while True:
        yield make_story(draw, held_out)


def pattern_of(template, values):
    """Matches the template with these values. Of a slot that has none the
    first place is a group, and each later one is that group again."""
    seen = set()

    def match_slot(slot):
        if slot in FREE:
            return f"(?:{'|'.join(WORDS[slot])})"
        if slot in values:
            return re.escape(values[slot])
        if "_" in slot or slot in ("she", "her"):
            return ".*?"  # Depends on another slot: not known yet.
        if slot in seen:
            return f"(?P={slot})"
        seen.add(slot)
        return f"(?P<{slot}>{'|'.join(map(re.escape, words_of(slot)))})"

    # The odd pieces are the slots.
    pieces = re.split(r"\{(\w+)\}", template)
    return "".join(match_slot(piece) if index % 2 else re.escape(piece)
                   for index, piece in enumerate(pieces))


@functools.lru_cache(maxsize=None)
def templates():
    """Every template as a whole, and what its stories look like."""
    whole = [" ".join(lines) for parts in STORIES
             for lines in itertools.product(*parts)]
    return [(template, re.compile(pattern_of(template, {})))
            for template in whole]


def parse_story(text):
    """The words that make_story chose for the text, or None if it could not
    have made it: every name, word and pronoun must be one that the beginning
    allows."""
    for template, pattern in templates():
        match = pattern.fullmatch(text)
        if match:
            chosen = match.groupdict()
            if chosen["hero"] != chosen["friend"] and \
                    chosen["animal"] != chosen["other"] and \
                    re.fullmatch(pattern_of(template, complete(chosen)), text):
                return chosen
    return None


if __name__ == "__main__":
    for _, story in zip(range(5), make_stories(1)):
        print(story + "\n")
