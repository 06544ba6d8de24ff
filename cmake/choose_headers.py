#!/usr/bin/env python3
# Which set of precompiled headers a source may start from: the largest of which
# it includes everything itself, so that none hides that it forgot one.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints one line for each source: the name of its set, or "-"."""
import argparse
import functools
import os
import re
import sys

DIRECTIVE = re.compile(r'^[ \t]*#[ \t]*(?:(ifndef|ifdef|if|endif|define)\b'
                       r'[ \t]*(\w*)|include[ \t]*["<]([^">\n]+))', re.M)


@functools.lru_cache(None)
def list_includes(path):
    """What a file includes whatever macros say: outside of all conditions but
    the guard around the whole."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        directives = DIRECTIVE.findall(stream.read())
    guarded = len(directives) > 1 and directives[0][0] == "ifndef" and \
        directives[1][:2] == ("define", directives[0][1])
    names, depth, conditions = [], 0, 1 if guarded else 0
    for word, _, name in directives:
        if name and depth <= conditions:
            names.append(name)
        elif word == "endif":
            depth -= 1
            conditions = min(depth, conditions)
        elif word.startswith("if"):
            depth += 1
    return names


class Includes:
    """The files that a file includes, directly or through another."""

    def __init__(self, folders):
        self.folders = folders
        self.find = functools.lru_cache(None)(self.find)

    def find(self, name):
        """The path of an include; None where it is the system's, or is not
        generated yet."""
        for folder in self.folders:
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return os.path.realpath(path)
        return None

    def closure(self, path):
        seen, left = set(), [os.path.realpath(path)]
        while left:
            path = left.pop()
            if path not in seen:
                seen.add(path)
                left += filter(None, map(self.find, list_includes(path)))
        return seen

    def missing(self, source, headers):
        """Those of the headers that the source does not include."""
        own = self.closure(source)
        return [header for header in headers if self.find(header) not in own]

    def size(self, headers):
        """Bytes of all that the headers include."""
        paths = set().union(*(self.closure(self.find(h)) for h in headers))
        return sum(map(os.path.getsize, paths))

    def choose(self, source, sets):
        """The name of the largest set that the source may have, or "-"."""
        allowed = [name for name, headers in sets.items()
                   if not self.missing(source, headers)]
        return max(allowed, key=lambda name: self.size(sets[name]), default="-")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", action="append", default=[],
                        help="a folder of headers")
    parser.add_argument("--set", action="append", default=[],
                        metavar="NAME=HEADER,...")
    parser.add_argument("sources", help="a file that names them, one a line")
    options = parser.parse_args()
    sets = {name: headers.split(",") for name, headers in
            (text.split("=") for text in options.set)}
    includes = Includes(options.include)
    unknown = [header for headers in sets.values() for header in headers
               if not includes.find(header)]
    if unknown:
        sys.exit(f"expected headers in {', '.join(options.include)}, got "
                 f"{', '.join(unknown)}")
    with open(options.sources, encoding="utf-8") as stream:
        for source in stream.read().split():
            print(includes.choose(source, sets))


if __name__ == "__main__":
    main()
