# What both training scripts do: the loop of steps, and the folder that a
# trained model is saved in.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import os
import time

import torch

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(FOLDER, "..", "models")
SEED = 20


def prepare(threads=1):
    """The same numbers in every run: one seed, and a fixed number of threads
    (another one adds in another order)."""
    torch.manual_seed(SEED)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)


def pad(rows, value):
    """Rows of ids as one tensor, padded behind."""
    length = max(map(len, rows))
    return torch.tensor([row + [value] * (length - len(row)) for row in rows])


def train(model, batches, steps, peak, report=50):
    """Fits the model to the batches (what its forward takes, labels
    included): AdamW, a rate that rises for 5 % of the steps to its peak and
    falls to nothing as a cosine."""
    warmup = max(1, steps // 20)

    def rate(step):
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 + 0.5 * math.cos(math.pi * (step - warmup) /
                                    (steps - warmup))

    # Norms, biases and other vectors do not decay.
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.05},
         {"params": vectors, "weight_decay": 0.0}],
        lr=peak, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    model.train()
    start, total = time.monotonic(), 0.0
    for step, batch in zip(range(1, steps + 1), batches):
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.item()
        if step % report == 0:
            print(f"step {step}: loss {total / report:.4f}, "
                  f"{time.monotonic() - start:.0f} s", flush=True)
            total = 0.0
    model.eval()


def load(model_class, name):
    """The saved model, in f32."""
    return model_class.from_pretrained(os.path.join(MODELS, name),
                                       dtype=torch.float32).eval()


def save(model, name):
    """Writes the folder, weights as f16, and returns it and the model with
    the weights that it now has, in f32."""
    folder = os.path.normpath(os.path.join(MODELS, name))
    model.half().save_pretrained(folder)
    return folder, load(type(model), name)


def save_golden(folder, lists):
    """What transformers answers to a few prompts, for tfc's tests: a list a
    name, one element a line."""
    parts = [f"{json.dumps(name)}: [\n " +
             ",\n ".join(map(json.dumps, values)) + "\n]"
             for name, values in lists.items()]
    with open(os.path.join(folder, "golden.json"), "w",
              encoding="utf-8") as stream:
        stream.write("{" + ",\n".join(parts) + "}\n")
