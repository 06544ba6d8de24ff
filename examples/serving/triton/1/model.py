# tfc behind Triton Inference Server's Python backend: the folder above is a
# model of its repository; the container has both wheels (pip install tfcompiler
# tfcompiler-runtime). See config.pbtxt: not run in a Triton.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json

import numpy as np
import tfcompiler as tfc
import triton_python_backend_utils as triton


class TritonPythonModel:
    """What Triton asks for by this name."""

    def initialize(self, args):
        parameters = json.loads(args["model_config"])["parameters"]
        words = {name: each["string_value"]
                 for name, each in parameters.items()}
        self.model = tfc.compile(words["folder"],
                                 target=words.get("target"),
                                 threads=int(words.get("threads", 0)))
        self.scheduler = tfc.Scheduler(self.model)

    def execute(self, requests):
        """A response to each request; all are computed together."""
        asked = [self._submit(request) for request in requests]
        return [self._answer(jobs) for jobs in asked]

    def finalize(self):
        self.scheduler.close()
        self.model.close()

    def _submit(self, request):
        """The jobs of a request's texts, or what is wrong with it."""
        prompts = triton.get_input_tensor_by_name(request, "PROMPT")
        most = triton.get_input_tensor_by_name(request, "MAX_TOKENS")
        jobs = []
        try:
            for prompt in prompts.as_numpy().reshape(-1):
                ids = self.model.tokenizer.encode(prompt.decode("utf-8")).ids
                jobs.append(self.scheduler.submit(
                    ids, max_new_tokens=int(most.as_numpy().reshape(-1)[0])
                    if most is not None else 64))
        except (tfc.Error, UnicodeDecodeError) as error:
            for job in jobs:
                job.cancel()
            return error
        return jobs

    def _answer(self, jobs):
        try:
            if isinstance(jobs, Exception):
                raise jobs
            texts = [self.model.tokenizer.decode(job.result()[0].tokens)
                     for job in jobs]
        except (tfc.Error, UnicodeDecodeError) as error:
            return triton.InferenceResponse(
                error=triton.TritonError(str(error)))
        return triton.InferenceResponse(output_tensors=[triton.Tensor(
            "TEXT", np.array([text.encode("utf-8") for text in texts],
                             dtype=object))])
