# A plot of who is how fast, as SVG.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from xml.sax.saxutils import escape

COLOURS = ["#1b6ca8", "#c44536", "#e09f3e", "#6a994e", "#7b2d8e", "#5c677d",
           "#997b66", "#2a9d8f", "#d4a5a5"]
BAR, GAP, LEFT, WIDTH, TOP = 9, 12, 340, 420, 40
# Bars end here: who is faster than this many times tfc.
MOST = 2.0


def legend(names):
    parts = []
    step = min(112, (LEFT + WIDTH + 50) // len(names))
    for i, name in enumerate(names):
        x = 10 + step * i
        parts.append(f'<rect x="{x}" y="8" width="10" height="10" '
                     f'fill="{COLOURS[i % len(COLOURS)]}"/>'
                     f'<text x="{x + 14}" y="17">{escape(name)}</text>')
    return parts


def bars(rows):
    """rows: (label, {name: time}), tfc among the names. A group of bars a
    row, whose lengths are speeds relative to tfc's."""
    names = list(dict.fromkeys(n for _, times in rows for n in times))
    parts, y = legend(names), TOP
    for label, times in rows:
        middle = y + BAR * len(times) / 2 + 4
        parts.append(f'<text x="{LEFT - 8}" y="{middle}" '
                     f'text-anchor="end">{escape(label)}</text>')
        for name, time in times.items():
            length = WIDTH * min(MOST, times["tfc"] / time) / MOST
            colour = COLOURS[names.index(name) % len(COLOURS)]
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" '
                         f'height="{BAR - 1}" fill="{colour}"/>')
            y += BAR
        y += GAP
    one = LEFT + WIDTH / MOST
    parts.append(f'<line x1="{one}" x2="{one}" y1="{TOP - 8}" y2="{y}" '
                 'stroke="#999"/>')
    parts.append(f'<text x="{one}" y="{y + 12}" text-anchor="middle">speed of '
                 'tfc = 1; longer is faster</text>')
    body = "\n".join(parts)
    return ('<svg xmlns="http://www.w3.org/2000/svg" '
            f'width="{LEFT + WIDTH + 60}" height="{y + 20}" '
            'font-family="sans-serif" font-size="11">\n'
            f'<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n')
