# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model says of itself."""
from __future__ import annotations

import ctypes as c
from dataclasses import dataclass, field
from typing import Optional, Tuple

from tfcompiler import _structs as s
from tfcompiler._library import runtime


@dataclass(frozen=True)
class Port:
    """An input or an output. rank 2: [batch, length] or [batch, width]; 3:
    [batch, length, width]. Values of inputs are in [0, limit); of one of rank
    3, rows of floats, limit is how many tokens of the model's own come in front
    of them."""

    name: str
    rank: int
    width: int
    limit: int
    required: bool


@dataclass(frozen=True)
class ModelInfo:
    """What a model says of itself."""

    name: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    producer: str  # compiler and version
    program: str  # in use, as "x86-64-v3"
    spec: str = field(repr=False)  # the canonical spec, JSON
    max_positions: int  # longest sequence in tokens; 0: no limit
    pad: Optional[int]
    bos: Optional[int]
    eos: Tuple[int, ...]
    can_generate: bool
    inputs: Tuple[Port, ...]
    outputs: Tuple[Port, ...]
    threads: int
    weight_bytes: int
    cache_bytes_per_token: int


def read_info(model) -> ModelInfo:
    """That of a model of the runtime."""
    info = s.ModelInfo()
    runtime().tfc_model_get_info(model, c.byref(info))
    return ModelInfo(
        info.name.decode(), info.kind.decode(), info.producer.decode(),
        info.program.decode(), info.spec.decode(), info.max_positions,
        _id(info.pad), _id(info.bos), tuple(info.eos[:info.n_eos]),
        bool(info.can_generate), _ports(info.inputs, info.n_inputs),
        _ports(info.outputs, info.n_outputs), info.threads,
        info.weight_bytes, info.cache_bytes_per_token)


def _id(value: int) -> Optional[int]:
    return None if value < 0 else value


def _ports(ports, count) -> Tuple[Port, ...]:
    return tuple(Port(port.name.decode(), port.rank, port.width, port.limit,
                      bool(port.required)) for port in ports[:count])
