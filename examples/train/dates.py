#!/usr/bin/env python3
# Makes dates as people write them, each with its ISO form: the text that
# train_dates.py learns from. Run by itself it prints a few.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import datetime
import random
import zlib

FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)
MONTHS = ("January February March April May June July August September "
          "October November December").split()
WEEKDAYS = ("Monday Tuesday Wednesday Thursday Friday Saturday "
            "Sunday").split()
UNITS = ("one two three four five six seven eight nine ten eleven twelve "
         "thirteen fourteen fifteen sixteen seventeen eighteen "
         "nineteen").split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = ("first second third fourth fifth sixth seventh eighth ninth tenth "
            "eleventh twelfth thirteenth fourteenth fifteenth sixteenth "
            "seventeenth eighteenth nineteenth twentieth").split()


def number_words(number):
    """1 to 99."""
    if number < 20:
        return UNITS[number - 1]
    tens, unit = TENS[number // 10 - 2], number % 10
    return f"{tens}-{UNITS[unit - 1]}" if unit else tens


def day_words(day):
    """1 to 31: first to thirty-first."""
    if day <= 20:
        return ORDINALS[day - 1]
    if day == 30:
        return "thirtieth"
    return f"{TENS[day // 10 - 2]}-{ORDINALS[day % 10 - 1]}"


def day_ordinal(day):
    if 11 <= day <= 13:
        return f"{day}th"
    return f"{day}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def year_words(draw, year):
    """One of the ways to say a year of 1900 to 2099."""
    century, rest = divmod(year, 100)
    joint = draw.choice((" and ", " "))
    if century == 20 and (rest < 10 or draw.random() < 0.3):
        return "two thousand" + (joint + number_words(rest) if rest else "")
    said = number_words(century)
    if rest == 0:
        return f"{said} hundred"
    if draw.random() < 0.2:
        return f"{said} hundred{joint}{number_words(rest)}"
    return f"{said} {'oh ' if rest < 10 else ''}{number_words(rest)}"


def pick_year(draw, year):
    """In digits. Two of them where POSIX says which century (69 is 1969)."""
    if 1969 <= year <= 2068 and draw.random() < 0.25:
        return draw.choice(("", "'")) + f"{year % 100:02}"
    return str(year)


def write_words(draw, date):
    day, month = day_words(date.day), MONTHS[date.month - 1]
    year = (year_words(draw, date.year) if draw.random() < 0.75
            else str(date.year))
    comma = draw.choice((", ", " "))
    if draw.random() < 0.5:
        return f"{draw.choice(('the ', ''))}{day} of {month}{comma}{year}"
    return f"{month} {draw.choice(('the ', ''))}{day}{comma}{year}"


def write_names(draw, date):
    month = MONTHS[date.month - 1]
    if draw.random() < 0.5:
        month = month[:3] + draw.choice(("", "."))
    day = draw.choice((str(date.day), day_ordinal(date.day)))
    year = pick_year(draw, date.year)
    comma = draw.choice((", ", " "))
    return draw.choice((f"{day} {month}{comma}{year}",
                        f"{day}{'' if day.isdigit() else ' of'} {month} {year}",
                        f"{month} {day}{comma}{year}"))


def write_compact(draw, date):
    """Digits that can be read in one way: dots begin with the day, slashes
    with the year, and a month by its name stands where it wants."""
    month, name = f"{date.month:02}", MONTHS[date.month - 1][:3]
    day = f"{date.day:02}"
    if draw.random() < 0.5:
        month, day = str(date.month), str(date.day)
    year = pick_year(draw, date.year).strip("'")
    return draw.choice((f"{day}.{month}.{year}",
                        f"{date.year}/{month}/{day}",
                        f"{day}-{name}-{year}",
                        f"{date.year} {name} {day}",
                        f"{date:%Y%m%d}"))


def write_slashes(draw, date):
    """Day and month in either order: two readings where neither is above 12."""
    pair = [str(date.day), str(date.month)]
    if draw.random() < 0.5:
        pair.reverse()
    return "/".join(pair + [pick_year(draw, date.year).strip("'")])


def is_ambiguous(date):
    return max(date.day, date.month) <= 12 and date.day != date.month


def write_date(draw, date):
    """The date in one of the ways people write it."""
    write, = draw.choices((write_words, write_names, write_compact,
                           write_slashes), (8, 6, 4, 3))
    text = write(draw, date)
    if write in (write_words, write_names) and draw.random() < 0.15:
        weekday = WEEKDAYS[date.weekday()]
        text = f"{draw.choice((weekday, weekday[:3]))}, {text}"
    return draw.choices((text, text.lower(), text.upper()), (6, 3, 1))[0]


def is_held_out(date):
    """A tenth of all dates is never trained on, in no form."""
    return zlib.crc32(date.isoformat().encode()) % 10 == 0


def make_pairs(seed, held_out=False):
    """Without end: (text, ISO form) of dates that are held out, or are not."""
    draw = random.Random(seed)
    days = (LAST - FIRST).days + 1
    while True:
        date = FIRST + datetime.timedelta(draw.randrange(days))
        if is_held_out(date) == held_out:
            yield write_date(draw, date), date.isoformat()


def readings(text, iso):
    """The ISO forms that are right for a text of make_pairs: two for 3/4/1994,
    else the one that it was made from."""
    date = datetime.date.fromisoformat(iso)
    parts = text.split("/")
    if len(parts) == 3 and len(parts[0]) < 4 and is_ambiguous(date):
        return {iso, date.replace(day=date.month, month=date.day).isoformat()}
    return {iso}


if __name__ == "__main__":
    for number, pair in zip(range(20), make_pairs(1)):
        print("%-60s %s" % pair)
