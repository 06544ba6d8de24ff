# The large models of the bundle: their shapes, and specs for tfc made of those
# of tiny models of the same families.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Workloads are tfc-bench's. `like` is the golden model whose spec is changed.
LARGE = {
    "bert-large": {
        "like": "bert-model", "dtype": "f32", "kind": "encoder",
        "hidden": 1024, "layers": 24, "heads": 16, "kv_heads": 16,
        "ffn": 4096, "vocab": 30522, "positions": 512,
        "workloads": ["encode:1x128", "encode:8x512"]},
    "gpt2-xl": {
        "like": "gpt2-lm", "dtype": "bf16", "kind": "decoder",
        "hidden": 1600, "layers": 48, "heads": 25, "kv_heads": 25,
        "ffn": 6400, "vocab": 50257, "positions": 1024,
        "workloads": ["prefill:1x512", "decode:1x512", "decode:16x512"]},
    "llama-8b": {
        "like": "llama-lm", "dtype": "bf16", "kind": "decoder",
        "hidden": 4096, "layers": 32, "heads": 32, "kv_heads": 8,
        "ffn": 14336, "vocab": 128256, "positions": 8192,
        "workloads": ["prefill:1x512", "prefill:1x2048", "decode:1x1024",
                      "decode:8x1024", "decode:32x1024"]},
    "bert-base": {
        "like": "bert-model", "dtype": "bf16", "kind": "encoder",
        "hidden": 768, "layers": 12, "heads": 12, "kv_heads": 12,
        "ffn": 3072, "vocab": 30522, "positions": 512,
        "workloads": ["encode:1x128", "encode:32x128"]},
    # Without a step of PyTorch's own beside it, which has no such matrices.
    "llama-8b-int4": {
        "like": "llama-lm", "dtype": "int4", "kind": "decoder",
        "hidden": 4096, "layers": 32, "heads": 32, "kv_heads": 8,
        "ffn": 14336, "vocab": 128256, "positions": 8192, "torch": False,
        "workloads": ["prefill:1x512", "decode:1x1024", "decode:8x1024"]},
}


def small(shape):
    """The same in sizes that an emulated GPU does in a second."""
    heads = 4 if shape["kv_heads"] < shape["heads"] else 2
    workloads = [w.split(":")[0] + (":1x9" if i == 0 else ":2x5")
                 for i, w in enumerate(shape["workloads"][:2])]
    return {**shape, "hidden": 32, "layers": 1, "heads": heads, "kv_heads": 2,
            "ffn": 48, "vocab": 61, "positions": 24, "workloads": workloads}


def tiny(shape, is_small):
    """The same in sizes that take a GPU no time, and that tiles of matrices and
    whole warps divide; `is_small`: half as wide, and with few positions, so
    few cases."""
    part = 2 if is_small else 1
    return {**shape, "hidden": 128 // part, "layers": 2, "heads": 4 // part,
            "kv_heads": 2 if shape["kv_heads"] < shape["heads"] else 4 // part,
            "ffn": 256 // part, "vocab": 256 // part,
            "positions": 12 if is_small else 160}


def change_spec(spec, name, shape):
    """A tiny model's spec in a large one's sizes."""
    stack = spec[shape["kind"]]
    block = stack["layers"]["block"]
    spec["name"] = name
    spec["dims"] = {"hidden": shape["hidden"], "vocab": shape["vocab"],
                    "max_positions": shape["positions"]}
    stack["layers"]["repeat"] = shape["layers"]
    block["attn"]["num_heads"] = shape["heads"]
    if shape["kv_heads"] != shape["heads"]:
        block["attn"]["num_kv_heads"] = shape["kv_heads"]
    if "head_dim" in block["attn"]:
        block["attn"]["head_dim"] = shape["hidden"] // shape["heads"]
    block["ffn"]["width"] = shape["ffn"]
    head = spec.get("heads", {}).get("lm", {}).get("steps", [{}])[-1]
    if "out" in head:
        head["out"] = shape["vocab"]
    spec.pop("meta", None)
    return spec


def inspect_step(workload):
    """tfc-bench's workload as `tfc inspect --step` says it."""
    kind, lengths = workload.split(":")
    return f"{'decode' if kind == 'decode' else 'prefill'}:{lengths}"
