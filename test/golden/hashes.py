# What Reformer's layers of hashes draw and choose, in transformers.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import unittest.mock

import torch
from transformers.models.reformer.modeling_reformer import LSHSelfAttention

# Of what a bucket is chosen by, the greatest and the next are so far apart that
# rounding does not choose.
TIES = 1e-4
ATTEMPTS = 100
SINGLE = torch.float32


def same_rotations():
    """While it lasts, rotations of any type are those of f32: torch draws
    others of the same seed for each type."""
    randn = torch.randn

    def draw(*shape, dtype=None, **named):
        return randn(*shape, dtype=SINGLE, **named).to(dtype or SINGLE)

    return unittest.mock.patch.object(torch, "randn", draw)


class Margins:
    """While it lasts, the least distance of two that a bucket was chosen
    from."""

    def __init__(self):
        self.least = float("inf")
        self.hash = LSHSelfAttention._hash_vectors

    def __enter__(self):
        def hash_vectors(own, vectors, hashes, *rest, **named):
            self.note(own, vectors, hashes)
            return self.hash(own, vectors, hashes, *rest, **named)

        LSHSelfAttention._hash_vectors = hash_vectors
        return self

    def __exit__(self, *_):
        LSHSelfAttention._hash_vectors = self.hash

    def note(self, own, vectors, hashes):
        factors = own.num_buckets
        factors = [factors] if isinstance(factors, int) else factors
        torch.manual_seed(own.hash_seed)
        rotations = torch.randn(vectors.shape[1], vectors.shape[-1], hashes,
                                sum(factors) // 2)
        first = 0
        for factor in factors:
            z = torch.einsum("bmtd,mdhr->bmhtr", vectors, rotations[
                ..., first:first + factor // 2])
            best = torch.cat([z, -z], -1).topk(2).values
            self.least = min(self.least,
                             float((best[..., 0] - best[..., 1]).min()))
            first += factor // 2


def settle(attempt):
    """What `attempt` makes, of numbers from 0 on the first with which no bucket
    is near another."""
    for number in range(ATTEMPTS):
        with Margins() as margins:
            made = attempt(number)
        if margins.least > TIES:
            return made
    raise RuntimeError(f"{ATTEMPTS} attempts had buckets near others")
