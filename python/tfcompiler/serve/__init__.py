# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server of compiled models: chats, texts, vectors, rerankers, under the
addresses that clients of OpenAI, Cohere and text-embeddings-inference know.

    python -m tfcompiler serve HF_DIR

Needs the packages starlette and uvicorn. An answer never depends on who else
asks.
"""
