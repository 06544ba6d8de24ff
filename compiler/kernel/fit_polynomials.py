#!/usr/bin/env python3
# Prints the coefficients of MathPolynomials.cpp: minimax fits by Remez'
# exchange, rounded to float one coefficient at a time. Needs mpmath.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The method.

Remez' exchange (E. W. Cheney, Introduction to Approximation Theory, chapters 3
and 5) finds P/Q with the smallest largest relative error: the error takes its
extreme value, with alternating sign, at one point more than there are free
coefficients. For given points P - f (1 +- E) Q = 0 is linear but for E Q,
which is linearised about the last E and Q.

Rounding all coefficients of a fit at once costs several times its error.
Instead each coefficient in turn, the most significant first, is rounded and
held while the others are fitted again.
"""
import struct

import mpmath as mp

mp.mp.dps = 50


def to_float(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def evaluate(coefficients, u):
    return mp.polyval(coefficients[::-1], u)


class Fit:
    """f ~ offset + P/Q on [low, high]; held: {(part, power): value}, part 0 is
    P."""

    def __init__(self, f, low, high, degrees, held, offset=0, grid=400):
        self.degrees = degrees
        self.offset = offset
        self.held = {key: mp.mpf(value) for key, value in held.items()}
        # Dense at the ends, where the extrema are.
        self.grid = [low + (high - low) * (1 - mp.cos(mp.pi * i / grid)) / 2
                     for i in range(grid + 1)]
        self.values = [f(u) for u in self.grid]

    def free(self):
        return [(part, power) for part in (0, 1)
                for power in range(self.degrees[part] + 1)
                if (part, power) not in self.held]

    def solve(self, points):
        """(P, Q, E) that alternates at these indices of the grid."""
        free = self.free()
        known = dict(self.held)
        scale, error = [mp.mpf(1)] * len(points), mp.mpf(0)
        for _ in range(20):
            a = mp.matrix(len(points), len(points))
            b = mp.matrix(len(points), 1)
            for row, index in enumerate(points):
                u, f = self.grid[index], self.values[index]
                sign = (-1) ** row
                weights = (1, self.offset - f * (1 + sign * error))
                for column, (part, power) in enumerate(free):
                    a[row, column] = weights[part] * u**power
                a[row, len(free)] = -f * sign * scale[row]
                b[row] = -sum(value * weights[part] * u**power
                              for (part, power), value in self.held.items())
            solution = mp.lu_solve(a, b)
            known.update(zip(free, solution))
            p, q = ([known[part, i] for i in range(self.degrees[part] + 1)]
                    for part in (0, 1))
            step = solution[len(free)]
            error += step
            scale = [evaluate(q, self.grid[index]) for index in points]
            if abs(step) <= abs(error) * mp.mpf(10) ** -8:
                break
        return p, q, error

    def extrema(self, errors):
        """The index of the largest error in each run of one sign."""
        found = []
        for i, error in enumerate(errors):
            if not found or (error > 0) != (errors[found[-1]] > 0):
                found.append(i)
            elif abs(error) > abs(errors[found[-1]]):
                found[-1] = i
        return found

    def run(self):
        """(P, Q, the largest relative error)."""
        count = len(self.free()) + 1
        last = len(self.grid) - 1
        points = [round(last * (i + 1) / (count + 1)) for i in range(count)]
        best = None
        for _ in range(20):
            p, q, level = self.solve(points)
            errors = [(self.offset + evaluate(p, u) / evaluate(q, u)) / f - 1
                      for u, f in zip(self.grid, self.values)]
            largest = max(map(abs, errors))
            if best is None or largest < best[2]:
                best = p, q, largest
            found = self.extrema(errors)
            if largest < abs(level) * mp.mpf("1.001") or len(found) < count:
                break
            while len(found) > count:
                ends = abs(errors[found[0]]) < abs(errors[found[-1]])
                found.pop(0 if ends else -1)
            points = found
        return best


def fit_rounded(f, low, high, degrees, held, offset=0):
    """A fit whose coefficients are floats."""
    fit = Fit(f, low, high, degrees, held, offset)
    while True:
        p, q, error = fit.run()
        free = fit.free()
        if not free:
            return p, q, error
        part, power = min(free, key=lambda key: (key[1], key[0]))
        fit.held[part, power] = mp.mpf(to_float((p, q)[part][power]))


def fit_odd(f, slope, bound, degree):
    """f(x) ~ x (offset + R(u) / Q(u)), u = x^2: what an ordinary P/Q of this
    degree is at infinity becomes the offset. One operation less is rounded
    before the division than in P, as many are needed."""
    def over_x(u):
        return f(mp.sqrt(u)) / mp.sqrt(u) if u else slope

    domain = mp.mpf(0), mp.mpf(bound) ** 2
    p, q, _ = Fit(over_x, *domain, (degree, degree),
                  {(0, 0): slope, (1, 0): 1}).run()
    offset = mp.mpf(to_float(p[degree] / q[degree]))
    held = {(0, 0): to_float(slope - offset), (1, 0): 1}
    return (*fit_rounded(over_x, *domain, (degree - 1, degree), held, offset),
            offset)


def report(name, p, q, error, offset=0):
    print(f"{name}: largest relative error {mp.nstr(error * 2**24, 3)} * 2^-24")
    rows = [("offset", offset)]
    rows += [(f"P{power}", value) for power, value in enumerate(p)]
    rows += [(f"Q{power}", value) for power, value in enumerate(q)]
    for row, value in rows:
        print(f"  {row:6} {float(value):.9g}")


def main():
    # 2 exp(r) on half a step of ln 2 to each side; 2 + 2 r keeps exp(0) exact.
    half = mp.log(2) / 2
    report("exp", *fit_rounded(lambda r: 2 * mp.exp(r), -half, half, (6, 0),
                               {(0, 0): 2, (0, 1): 2, (1, 0): 1}))
    # Some units in the last place from 1. Of the bounds around here these have
    # the smallest error of the rounded arithmetic over all floats.
    report("tanh", *fit_odd(mp.tanh, mp.mpf(1), "7.95", 4))
    report("erf", *fit_odd(mp.erf, 2 / mp.sqrt(mp.pi), "3.73", 5))
    # Up to half a quarter turn, and a little more, as it is rounded: cos r, and
    # sin r / r, by r^2. What is held keeps the ends exact.
    square = (mp.pi / 4 * mp.mpf("1.0001")) ** 2
    report("sin", *fit_rounded(
        lambda u: mp.sin(mp.sqrt(u)) / mp.sqrt(u) if u else mp.mpf(1),
        mp.mpf(0), square, (3, 0), {(0, 0): 1, (1, 0): 1}))
    report("cos", *fit_rounded(
        lambda u: mp.cos(mp.sqrt(u)), mp.mpf(0), square, (4, 0),
        {(0, 0): 1, (0, 1): -0.5, (1, 0): 1}))


if __name__ == "__main__":
    main()
