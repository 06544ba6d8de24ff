# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server of compiled models: chats, texts, vectors, rerankers, texts of
sounds, under the addresses that clients of OpenAI, Cohere and
text-embeddings-inference know.

    python -m tfcompiler serve HF_DIR

Or under a server of your own, as an ASGI application:

    app = tfcompiler.serve.app({"a name": tfcompiler.compile(folder)})

Needs the packages starlette and uvicorn, and for sounds python-multipart. An
answer never depends on who else
asks.
"""
from __future__ import annotations

from typing import Mapping

__all__ = ["app"]


def app(models: Mapping[str, object], **words):
    """An ASGI application that answers for models, each by its name; requests
    without a name are the first one's. words: of tfcompiler.Scheduler, for
    each. Nobody asks for keys. It has the models until the process ends; its
    `state.server.engines` are what `tfc serve` closes. Raises Error."""
    from tfcompiler.serve._app import make_app
    from tfcompiler.serve._engine import Engine
    from tfcompiler.serve._server import Server
    return make_app(Server([Engine(name, model, **words)
                            for name, model in models.items()]))
