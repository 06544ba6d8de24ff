#!/usr/bin/env python3
# Checks that a page of HTML stands alone (fetches nothing, runs nothing), that
# its tags are balanced and that its pictures have no number that is none.
#   check_page.py PAGE PICTURES [TEXT...]: how many pictures, what it says
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

ALONE = ("meta",)  # tags without an end
SHAPES = ("rect", "circle", "line", "polyline")


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.faults, self.said = [], [], ""
        self.counts = dict.fromkeys(SHAPES + ("svg", "tr"), 0)
        self.targets, self.links = set(), set()

    def handle_starttag(self, tag, attributes):
        self.look(tag, attributes)
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.look(tag, attributes)

    def look(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        for name, value in attributes:
            if name == "id":
                self.targets.add("#" + value)
            if name == "href" and value.startswith("#"):
                self.links.add(value)
                continue
            if name in ("src", "href", "srcset", "onload") or tag == "script":
                self.faults.append(f"{tag}: expected nothing to fetch or run")
            if tag in SHAPES and name in ("x", "y", "cx", "cy", "r", "width",
                                          "height", "points", "x1", "y1"):
                if not re.fullmatch(r"[-0-9., ]+", value):
                    self.faults.append(f"{tag}: expected numbers, got {value}")
            if name in ("width", "height", "r") and value.startswith("-"):
                self.faults.append(f"{tag}: expected a size, got {value}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"expected no </{tag}> here")

    def handle_data(self, data):
        self.said += data


def draw(path):
    """The page as Chromium has it; "" where there is none that works."""
    browser = shutil.which("chromium")
    if not browser:
        return ""
    scratch = tempfile.mkdtemp(prefix="tfc-page-")
    try:
        return subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={scratch}", "--dump-dom",
             Path(path).resolve().as_uri()], capture_output=True, text=True,
            errors="replace", timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main():
    path, pictures, *texts = sys.argv[1:]
    page = Path(path).read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(page)
    faults = reader.faults
    if reader.open:
        faults.append(f"expected all tags to be closed, got {reader.open}")
    if reader.links - reader.targets:
        faults.append("expected links to places of the page, got "
                      f"{sorted(reader.links - reader.targets)}")
    if re.search(r"https?:|url\(|@import|nan\b|inf\b", page):
        faults.append("expected no address and no number that is none")
    if reader.counts["svg"] != int(pictures):
        faults.append(f"expected {pictures} pictures, got "
                      f"{reader.counts['svg']}")
    faults += [f"expected {text!r}" for text in texts
               if text not in reader.said]
    drawn = draw(path) if not faults else ""
    if drawn and drawn.count("<svg") != int(pictures):
        faults.append("expected the pictures in the browser, too")
    print("\n".join(faults) or f"a page, {'' if drawn else 'not '}drawn")
    return 1 if faults else 0


sys.exit(main())
