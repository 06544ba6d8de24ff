# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command: python -m tfcompiler serve HF_DIR [HF_DIR...]"""
from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import contextlib
import importlib.util
import itertools
import logging
import signal
import sys
from pathlib import Path
from typing import Any, Coroutine, List, Optional, Sequence, Tuple

from tfcompiler._compile import compile
from tfcompiler._error import Code, Error
from tfcompiler.serve._keys import read_keys

_POLL_SECONDS = 0.05
_START_SECONDS = 0.002  # the same, of what takes a few
_PACKAGES = ("httptools", "starlette", "uvicorn")
_LOCAL = ("127.0.0.1", "localhost", "::1")


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"expected 0 or more, got {text}")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own."""
    parser.add_argument("folders", nargs="+", metavar="HF_DIR",
                        help="Hugging Face folders, a model each")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000,
                        help="0: one that is free, which is printed")
    parser.add_argument("--served-model-name", action="append", default=[],
                        metavar="NAME", help="of the folder in the same place; "
                        "by default the folder's own")
    parser.add_argument("--api-key-file", type=Path, metavar="FILE",
                        help="a line each, NAME:SHA256 of the key")
    parser.add_argument("--no-auth", action="store_true",
                        help="another host than this one, and anybody may ask")
    parser.add_argument("--target", help="tfc compile's --target")
    parser.add_argument("--dtype", help="tfc compile's --dtype")
    parser.add_argument("--threads", type=int, default=0,
                        help="of a model; 0: all there are")
    parser.add_argument("--cache-bytes", type=int, default=0,
                        help="of keys and values; 0: half of the memory there "
                        "is")
    parser.add_argument("--max-step-tokens", type=int, default=0,
                        help="by which a long prompt holds up others")
    parser.add_argument("--max-batch-tokens", type=int, default=0,
                        help="of texts that are encoded together")
    parser.add_argument("--max-queue-tokens", type=int, default=0,
                        help="that wait, beyond which requests are refused")
    parser.add_argument("--no-prefix-cache", action="store_true",
                        help="beginnings of texts are not remembered")
    parser.add_argument("--max-drafts", type=int, default=0, metavar="N",
                        help="guesses of an answer's next tokens in a step, "
                        "looked up in its own text or --draft's; the answers "
                        "are the same. 0 (default): none, with --draft 8")
    parser.add_argument("--draft", action="append", default=[],
                        metavar="HF_DIR", help="a smaller model of the same "
                        "vocabulary, that guesses for the folder in the same "
                        "place")
    parser.add_argument("--packed", action="append", default=[],
                        metavar="FILE", help="of the folder in the same place: "
                        "its weights as this library reads them, written when "
                        "it is not there, and mapped, so that servers of one "
                        "FILE have one copy together")
    parser.add_argument("--default-max-tokens", type=int, default=4096,
                        help="of an answer of which the client says nothing")
    parser.add_argument("--chat-template", type=Path, metavar="FILE",
                        help="instead of the folder's")
    parser.add_argument("--tool-format", choices=("hermes", "mistral", "llama"),
                        help="how the model writes calls of tools, where its "
                        "template does not say")
    parser.add_argument("--token-inputs", action="store_true",
                        help="/v1/embeddings takes token ids")
    parser.add_argument("--any-dimensions", action="store_true",
                        help="vectors may be cut anywhere")
    parser.add_argument("--truncate", action="store_true",
                        help="texts that are too long are cut")
    parser.add_argument("--otlp-endpoint", metavar="URL", help="where spans of "
                        "answers go, as http://127.0.0.1:4318/v1/traces")
    parser.add_argument("--header-timeout", type=_seconds, default=30,
                        metavar="SECONDS", help="that a request's header has "
                        "to come")
    parser.add_argument("--drain-timeout", type=_seconds, default=30,
                        metavar="SECONDS", help="that running answers have "
                        "after SIGTERM")


def serve(options: argparse.Namespace) -> int:
    """Serves until a signal; the exit status. Raises Error."""
    missing = [name for name in _PACKAGES
               if importlib.util.find_spec(name) is None]
    if missing:
        raise Error(Code.NOT_FOUND, f"expected {', '.join(missing)} (pip "
                    "install 'tfcompiler-runtime[serve]'), got no such "
                    "packages")
    if options.otlp_endpoint and not options.otlp_endpoint.startswith(
            ("http://", "https://")):
        raise Error(Code.INVALID_ARGUMENT, "--otlp-endpoint: expected an "
                    f"address of http, got {options.otlp_endpoint}")
    if options.host not in _LOCAL and not options.api_key_file \
            and not options.no_auth:
        raise Error(Code.INVALID_ARGUMENT, "--host: expected --api-key-file "
                    "beside an address that others reach (or --no-auth), got "
                    f"{options.host}")
    keys = read_keys(options.api_key_file) if options.api_key_file else []
    template = _read(options.chat_template)
    names = _names(options.folders, options.served_model_name)
    with contextlib.ExitStack() as stack:
        models, drafts = _models(options)
        from tfcompiler.serve._engine import Engine
        engines = [stack.enter_context(Engine(
            name, model, chat_template=template,
            max_cache_bytes=options.cache_bytes,
            max_step_tokens=options.max_step_tokens,
            max_batch_tokens=options.max_batch_tokens,
            max_queue_tokens=options.max_queue_tokens,
            prefix_cache=not options.no_prefix_cache,
            max_drafts=options.max_drafts, draft=draft))
            for name, model, draft in zip(names, models, drafts)]
        from tfcompiler.serve._traces import Exporter
        traces = stack.enter_context(Exporter(options.otlp_endpoint)) \
            if options.otlp_endpoint else None
        return _run_loop(_run(options, engines, keys, traces))


def _run_loop(main: Coroutine[Any, Any, int]) -> int:
    """In uvloop's loop where that is installed, which costs a request less."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    return uvloop.run(main)


def _models(options) -> Tuple[List, List]:
    """The folders' models, and who guesses for each, or None. While the
    compiler looks at them, which is another process, and the runtime reads
    them, the packages of the server are read."""
    for name, given in (("draft", options.draft), ("packed", options.packed)):
        if len(given) > len(options.folders):
            raise Error(Code.INVALID_ARGUMENT, f"--{name}: expected at most "
                        f"{len(options.folders)}, one a folder, got "
                        f"{len(given)}")

    def make() -> Tuple[List, List]:
        models, drafts = [
            [compile(folder, target=options.target, dtype=options.dtype,
                     threads=options.threads, packed=file,
                     share_packed=file is not None)
             for folder, file in itertools.zip_longest(folders, files)]
            for folders, files in ((options.folders, options.packed),
                                   (options.draft, []))]
        for model in models:
            # Else the first to ask would wait for it; there may be none.
            with contextlib.suppress(Error):
                _ = model.tokenizer
        return models, drafts + [None] * (len(models) - len(drafts))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        made = pool.submit(make)
        import uvicorn  # noqa: F401

        import tfcompiler.serve._app
        import tfcompiler.serve._http  # noqa: F401
        return made.result()


def _names(folders: Sequence[str], given: Sequence[str]) -> List[str]:
    if len(given) > len(folders):
        raise Error(Code.INVALID_ARGUMENT, "--served-model-name: expected at "
                    f"most {len(folders)}, one a folder, got {len(given)}")
    made = list(given) + [Path(folder).resolve().name
                          for folder in folders[len(given):]]
    if len(set(made)) != len(made):
        raise Error(Code.INVALID_ARGUMENT, "--served-model-name: expected "
                    f"names that differ, got {', '.join(made)}")
    return made


def _read(path: Optional[Path]) -> Optional[str]:
    try:
        return path and path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise Error(Code.IO, f"{path}: expected a chat template, got: {error}"
                    ) from None


async def _run(options, engines, keys, traces) -> int:
    import uvicorn

    from tfcompiler.serve._app import make_app
    from tfcompiler.serve._generation import Limits
    from tfcompiler.serve._http import bounded_headers
    from tfcompiler.serve._server import Server

    server = Server(engines, keys, limits=Limits(options.default_max_tokens),
                    takes_ids=options.token_inputs,
                    any_dimensions=options.any_dimensions,
                    truncates=options.truncate, traces=traces,
                    tool_format=options.tool_format)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    web = uvicorn.Server(uvicorn.Config(
        make_app(server), host=options.host, port=options.port,
        log_level="warning", access_log=False, lifespan="off",
        # Whose headers have limits; there are no web sockets, and nobody asks
        # who the client is.
        http=bounded_headers(options.header_timeout), ws="none",
        limit_concurrency=1024, proxy_headers=False,
        timeout_graceful_shutdown=1))
    # Signals are the drain's, below.
    web.capture_signals = contextlib.nullcontext
    drain = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if drain.is_set():
            web.force_exit = True  # the second one
        drain.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    running = asyncio.ensure_future(web.serve())
    while not web.started and not running.done():
        await asyncio.sleep(_START_SECONDS)
    if web.started:
        _announce(web, engines)
        await _until_drained(web, server, drain, running,
                             options.drain_timeout)
    web.should_exit = True
    try:
        await running
    except SystemExit:  # an address that is taken; uvicorn has said so
        return 1
    return 0 if web.started else 1


def _announce(web, engines) -> None:
    for each in web.servers:
        for socket in each.sockets:
            host, port = socket.getsockname()[:2]
            host = f"[{host}]" if ":" in host else host
            print(f"http://{host}:{port} serves "
                  + ", ".join(engine.name for engine in engines), flush=True)


async def _until_drained(web, server, drain, running, seconds: float) -> None:
    """Waits for a signal, and then for those that are being answered."""
    waiting = asyncio.ensure_future(drain.wait())
    await asyncio.wait({waiting, running},
                       return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    server.is_draining = True
    for engine in server.engines:
        engine.scheduler.drain(seconds)
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds + 1
    while not web.force_exit and loop.time() < end and any(
            engine.n_jobs for engine in server.engines):
        await asyncio.sleep(_POLL_SECONDS)
