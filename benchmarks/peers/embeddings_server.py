#!/usr/bin/env python3
# A sentence model of PyTorch or ONNX Runtime behind the front that tfc serve
# has, uvicorn and Starlette: POST /v1/embeddings of one text. Texts that wait
# together are one batch, padded, as such servers do.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import asyncio
import tempfile

import numpy as np
import onnx_export
import torch
import uvicorn
from sentence_transformers import SentenceTransformer
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

MOST = 32  # texts of a batch


def torch_encoder(folder, threads):
    model = SentenceTransformer(folder, device="cpu")
    return lambda texts: model.encode(texts, batch_size=MOST,
                                      show_progress_bar=False)


def onnx_encoder(folder, threads):
    """The same model's transformer in ONNX Runtime; the mean over a text's
    tokens, which is then brought to length 1, as the folder says."""
    import onnxruntime
    tokenizer = SentenceTransformer(folder, device="cpu").tokenizer
    path = tempfile.mkdtemp() + "/model.onnx"
    onnx_export.convert(folder, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options,
                                           ["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]

    def encode(texts):
        made = tokenizer(texts, padding=True, truncation=True, max_length=256,
                         return_tensors="np")
        ids, mask = (made[name].astype(np.int64)
                     for name in ("input_ids", "attention_mask"))
        hidden = session.run(None, dict(zip(names, (ids, mask))))[0]
        rows = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return encode


def make_app(encode):
    waiting = asyncio.Queue()

    async def work():
        loop = asyncio.get_running_loop()
        while True:
            jobs = [await waiting.get()]
            while len(jobs) < MOST and not waiting.empty():
                jobs.append(waiting.get_nowait())
            rows = await loop.run_in_executor(
                None, encode, [text for text, _ in jobs])
            for (_, done), row in zip(jobs, rows):
                done.set_result(row)

    async def embeddings(request):
        if not getattr(app.state, "worker", None):
            app.state.worker = asyncio.ensure_future(work())
        text = (await request.json())["input"]
        done = asyncio.get_running_loop().create_future()
        waiting.put_nowait((text, done))
        row = await done
        return JSONResponse({
            "object": "list", "data": [{"object": "embedding", "index": 0,
                                        "embedding": row.tolist()}],
            "usage": {"prompt_tokens": 0, "total_tokens": 0}})

    app = Starlette(routes=[
        Route("/v1/embeddings", embeddings, methods=["POST"]),
        Route("/health", lambda request: PlainTextResponse("ok"))])
    return app


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--backend", choices=("torch", "onnx"),
                        default="torch")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    make = torch_encoder if options.backend == "torch" else onnx_encoder
    encode = make(options.folder, options.threads)
    encode(["warm"] * MOST)
    uvicorn.run(make_app(encode), port=options.port, log_level="warning",
                access_log=False)


if __name__ == "__main__":
    main()
