# Sentence encoders of the differential test: a folder's modules, and what they
# make of a model's rows.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os

# sentence-transformers' words.
POOLINGS = ("mean", "max", "mean_sqrt_len_tokens", "cls", "lasttoken")
ACTIVATIONS = ("Tanh", "Identity", "GELU")


def projection(torch, case):
    """The tensors of a product behind the pooling, and of a norm behind it, by
    folder; none where the case has no width for them."""
    if not case.get("projected"):
        return {}
    generator = torch.Generator().manual_seed(case["seed"])

    def draw(*shape):
        return torch.randn(shape, generator=generator)

    wide = case["hidden"]
    dense = {"linear.weight": draw(case["projected"], wide) / wide ** 0.5}
    if case["seed"] % 2:
        dense["linear.bias"] = draw(case["projected"])
    return {"2_Dense": dense, "3_LayerNorm": {
        "norm.weight": draw(case["projected"]),
        "norm.bias": draw(case["projected"])}}


def activation(case):
    return ACTIVATIONS[case["seed"] % len(ACTIVATIONS)]


def write_modules(torch, folder, case):
    # Here alone, so that who only draws cases needs no packages.
    from safetensors.torch import save_file

    modules = projection(torch, case)
    configs = {"1_Pooling": {"pooling_mode": case["sentence"]},
               "2_Dense": {"out_features": case.get("projected"),
                           "bias": bool(case["seed"] % 2),
                           "activation_function":
                           "torch.nn.modules." + activation(case)},
               "3_LayerNorm": {"dimension": case.get("projected")}}
    paths = ["", "1_Pooling", *modules, "4_Normalize"]
    with open(os.path.join(folder, "modules.json"), "w") as stream:
        json.dump([{"type": "a." + (path[2:] or "Transformer"), "path": path}
                   for path in paths], stream)
    for path in paths[1:-1]:
        os.makedirs(os.path.join(folder, path))
        with open(os.path.join(folder, path, "config.json"), "w") as stream:
            json.dump(configs[path], stream)
        if path in modules:
            save_file(modules[path],
                      os.path.join(folder, path, "model.safetensors"))


def pool(rows, pooling):
    """Of the rows of a sentence's tokens."""
    if pooling == "max":
        return rows.max(0).values
    if pooling in ("cls", "lasttoken"):
        return rows[0 if pooling == "cls" else -1]
    divisor = len(rows) if pooling == "mean" else len(rows) ** 0.5
    return rows.sum(0) / divisor


def project(torch, rows, case):
    modules = projection(torch, case)
    if not modules:
        return rows
    dense, norm = modules["2_Dense"], modules["3_LayerNorm"]
    rows = rows @ dense["linear.weight"].to(rows.dtype).T
    if "linear.bias" in dense:
        rows = rows + dense["linear.bias"].to(rows.dtype)
    rows = getattr(torch.nn, activation(case))()(rows)
    return torch.nn.functional.layer_norm(
        rows, rows.shape[-1:], norm["norm.weight"].to(rows.dtype),
        norm["norm.bias"].to(rows.dtype))


def embed(torch, outputs, inputs, case):
    """The outputs of the library, by those of the model."""
    hidden = outputs["last_hidden_state"]
    mask = inputs.get("attention_mask")
    kept = torch.ones(hidden.shape[:2]) if mask is None else mask
    vectors = torch.stack([pool(row[seen == 1], case["sentence"])
                           for row, seen in zip(hidden, kept)])
    vectors = project(torch, vectors, case)
    return {"last_hidden_state": hidden,
            "sentence_embedding": torch.nn.functional.normalize(vectors)}
