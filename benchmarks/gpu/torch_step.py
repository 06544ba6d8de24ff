#!/usr/bin/env python3
# A step of a model in plain PyTorch, timed: what tfc's are held against. The
# shape is the bundle's; weights have no meaning. `graphs` is the step as a CUDA
# graph, `compile` such a graph of layers that torch.compile made.
#   torch_step.py SHAPE_JSON WORKLOAD eager|graphs|compile
# Prints JSON: the seconds of each run, by the device's events.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

WARMUP, REPEATS, MOST_SECONDS = 3, 20, 10.0
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + turned * sin


class Layer(nn.Module):
    """Pre-norm with RMS norms, rotary positions and a gate (like LLaMA), or
    without (like GPT-2); post-norm in an encoder (like BERT)."""

    def __init__(self, shape):
        super().__init__()
        self.is_encoder = shape["kind"] == "encoder"
        self.is_gated = shape["like"].startswith("llama")
        hidden, ffn = shape["hidden"], shape["ffn"]
        self.heads, self.kv_heads = shape["heads"], shape["kv_heads"]
        self.dim = hidden // self.heads
        bias = not self.is_gated
        norm = nn.RMSNorm if self.is_gated else nn.LayerNorm
        self.norm1, self.norm2 = norm(hidden), norm(hidden)
        width = (self.heads + 2 * self.kv_heads) * self.dim
        self.qkv = nn.Linear(hidden, width, bias=bias)
        self.out = nn.Linear(hidden, hidden, bias=bias)
        self.up = nn.Linear(hidden, ffn * (2 if self.is_gated else 1),
                            bias=bias)
        self.down = nn.Linear(ffn, hidden, bias=bias)

    def attend(self, x, past, angles):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).split(
            [self.heads * self.dim, self.kv_heads * self.dim,
             self.kv_heads * self.dim], dim=-1)
        q = q.view(batch, length, self.heads, self.dim).transpose(1, 2)
        k = k.view(batch, length, self.kv_heads, self.dim).transpose(1, 2)
        v = v.view(batch, length, self.kv_heads, self.dim).transpose(1, 2)
        if self.is_gated:
            q, k = rotate(q, *angles), rotate(k, *angles)
        if past is not None:
            keys, values = past
            keys[:, :, -length:] = k
            values[:, :, -length:] = v
            k, v = keys, values
        # A decoder's only new token sees everything.
        y = F.scaled_dot_product_attention(
            q, k, v, is_causal=not self.is_encoder and past is None,
            enable_gqa=self.heads != self.kv_heads)
        return self.out(y.transpose(1, 2).reshape(batch, length, -1))

    def feed(self, x):
        if self.is_gated:
            gate, up = self.up(x).chunk(2, dim=-1)
            return self.down(F.silu(gate) * up)
        approximate = "none" if self.is_encoder else "tanh"
        return self.down(F.gelu(self.up(x), approximate=approximate))

    def forward(self, x, past, angles):
        if self.is_encoder:
            x = self.norm1(x + self.attend(x, past, angles))
            return self.norm2(x + self.feed(x))
        x = x + self.attend(self.norm1(x), past, angles)
        return x + self.feed(self.norm2(x))


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        hidden = shape["hidden"]
        self.shape = shape
        self.tokens = nn.Embedding(shape["vocab"], hidden)
        self.places = nn.Embedding(shape["positions"], hidden)
        self.layers = nn.ModuleList(
            Layer(shape) for _ in range(shape["layers"]))
        self.norm = nn.LayerNorm(hidden)
        is_decoder = shape["kind"] == "decoder"
        self.head = (nn.Linear(hidden, shape["vocab"], bias=False)
                     if is_decoder else None)

    def forward(self, ids, positions, pasts, angles):
        x = self.tokens(ids)
        if not self.layers[0].is_gated:
            x = x + self.places(positions)
        for layer, past in zip(self.layers, pasts):
            x = layer(x, past, angles)
        return self.head(self.norm(x[:, -1])) if self.head else x


def make_step(shape, workload):
    """A function without arguments: the step, and the model's layers."""
    kind, sizes = workload.split(":")
    batch, length = map(int, sizes.split("x"))
    dtype = DTYPES[shape["dtype"]]
    torch.set_default_dtype(dtype)
    with torch.device(DEVICE):
        model = Model(shape).eval()
        dim = shape["hidden"] // shape["heads"]
        count = 1 if kind == "decode" else length
        begin = length if kind == "decode" else 0
        ids = torch.arange(batch * count).view(batch, count) % shape["vocab"]
        positions = torch.arange(begin, begin + count)
        turns = torch.outer(positions.float(), 10000.0 ** (
            -torch.arange(0, dim, 2).float() / dim))
        turns = torch.cat((turns, turns), dim=-1)
        angles = (turns.cos().to(dtype), turns.sin().to(dtype))
        pasts = [None] * shape["layers"]
        if kind == "decode":
            size = (batch, shape["kv_heads"], length + 1, dim)
            pasts = [(torch.randn(size), torch.randn(size)) for _ in pasts]
    return lambda: model(ids, positions, pasts, angles), model.layers


def capture(step):
    """The step as a CUDA graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(WARMUP):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def time_once(step):
    if DEVICE == "cpu":
        begin = time.perf_counter()
        step()
        return time.perf_counter() - begin
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    step()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / 1e3


def main():
    shape, workload, mode = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
    torch.manual_seed(1)
    # f32 is f32 here as there.
    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.inference_mode():
        step, layers = make_step(shape, workload)
        if mode == "compile":
            # One layer's code for all of them, which takes seconds.
            for layer in layers:
                layer.compile(dynamic=False)
        step = step if mode == "eager" or DEVICE == "cpu" else capture(step)
        for _ in range(WARMUP):
            time_once(step)
        begin, seconds = time.perf_counter(), []
        while len(seconds) < REPEATS and (
                len(seconds) < 3 or time.perf_counter() - begin < MOST_SECONDS):
            seconds.append(time_once(step))
    print(json.dumps({"seconds": seconds, "torch": torch.__version__,
                      "device": torch.cuda.get_device_name()
                      if DEVICE == "cuda" else "cpu"}))


if __name__ == "__main__":
    main()
