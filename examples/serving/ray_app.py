#!/usr/bin/env python3
# tfc serve behind Ray Serve: replicas, each of which answers many together.
#
#     pip install 'ray[serve]' 'tfcompiler-runtime[serve]' tfcompiler
#     python3 ray_app.py ../models/stories-tiny
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import signal

# Which otherwise tells its makers that it is used.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
import ray  # noqa: E402
from ray import serve  # noqa: E402


def deployment(folder, target, threads, replicas):
    """All addresses of tfc serve, for one model. The batching is the
    scheduler's, not Ray's, so a replica takes many requests at once."""
    folder = os.path.abspath(folder)

    def build():  # in each replica
        import tfcompiler as tfc
        import tfcompiler.serve
        model = tfc.compile(folder, target=target, threads=threads)
        return tfcompiler.serve.app({os.path.basename(folder): model})
    return serve.deployment(
        serve.ingress(build)(), name="tfc", num_replicas=replicas,
        max_ongoing_requests=64,
        ray_actor_options={"num_cpus": threads / 2}).bind()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="a Hugging Face folder")
    parser.add_argument("--target", help="tfc compile's --target")
    parser.add_argument("--threads", type=int, default=1, help="of a replica")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    ray.init(num_cpus=max(2, options.replicas), include_dashboard=False,
             _node_ip_address="127.0.0.1")
    serve.start(http_options={"host": "127.0.0.1", "port": options.port})
    serve.run(deployment(options.folder, options.target, options.threads,
                         options.replicas))
    print(f"http://127.0.0.1:{options.port}", flush=True)
    signal.sigwait(ends)
    serve.shutdown()
    ray.shutdown()


if __name__ == "__main__":
    main()
