# Answers of a form: a model of a few stories' words writes what a schema, a
# pattern or a tool says, since nothing else may come.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import json
import os
import re
import unittest
from unittest import mock

import numpy as np

import shared
from serving import Served, Stories
from tfcompiler.serve._calls import FORMATS
from tfcompiler.serve._errors import ApiError
from tfcompiler.serve._grammar import Grammars, form_of
from tfcompiler.serve._schema import TooMuch, check_schema, fault
from tfcompiler.serve._tools import ToolUse, call_form
from tools_test import CITY, TEMPLATE, TOOL, USER

try:
    import llguidance  # noqa: F401
    HAS_GRAMMARS = True
except ImportError:
    HAS_GRAMMARS = False

SCHEMA = {"$defs": {"size": {"enum": ["small", "large"]}}, "type": "object",
          "properties": {"size": {"$ref": "#/$defs/size"},
                         "count": {"type": "integer", "minimum": 1,
                                   "maximum": 99},
                         "tags": {"type": "array", "items": {
                             "type": "string", "maxLength": 3},
                             "minItems": 1, "maxItems": 2}},
          "required": ["size", "count", "tags"],
          "additionalProperties": False}
STRICT = {"type": "json_schema", "json_schema": {
    "name": "Box", "schema": SCHEMA, "strict": True}}
PROMPT = "Once upon a time"


class Schemas(unittest.TestCase):
    def test_take_what_fits_and_name_what_does_not(self):
        good = {"size": "small", "count": 3, "tags": ["a"]}
        self.assertIsNone(fault(SCHEMA, good))
        for change, part in (
                ({"size": "big"}, "/size"), ({"count": 100}, "/count"),
                ({"count": 1.5}, "/count"), ({"count": True}, "/count"),
                ({"tags": []}, "/tags"), ({"tags": ["abcd"]}, "/tags/0"),
                ({"more": 1}, "/more")):
            self.assertIn(part, fault(SCHEMA, {**good, **change}))
        del good["size"]
        self.assertIn("required", fault(SCHEMA, good))
        for schema, value, fits in (
                ({"type": ["null", "number"]}, None, True),
                ({"type": "integer"}, 2.0, True),
                ({"type": "integer"}, float("inf"), False),
                ({"anyOf": [{"const": 1}, {"type": "string"}]}, True, False),
                ({"anyOf": [{"const": 1}, {"type": "string"}]}, "a", True),
                ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 3, False),
                ({"exclusiveMinimum": 1}, 1, False),
                ({"prefixItems": [{"const": 0}], "items": False}, [0], True),
                ({"prefixItems": [{"const": 0}], "items": False}, [0, 1],
                 False),
                ({"enum": [[1, {"a": 2}]]}, [1, {"a": 2}], True),
                ({"format": "date"}, "2024-02-30", False),
                ({"format": "date-time"}, "2024-02-29T12:30:00Z", True),
                ({"format": "date-time"}, "2024-02-29T25:30:00Z", False),
                ({"format": "ipv4"}, "1.2.3.256", False),
                ({"format": "uuid"}, "a", False),
                (False, 1, False)):
            self.assertEqual(fault(schema, value) is None, fits,
                             (schema, value))

    def test_that_take_for_ever_are_given_up(self):
        wide = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2}
                for n in range(40)}
        wide["a40"] = {"const": 1}
        for schema in ({"$ref": "#/$defs/a0", "$defs": wide},
                       {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}):
            with self.assertRaises((TooMuch, RecursionError)):
                fault(schema, 2)
            with self.assertRaises(ApiError) as raised:
                form_of({"guided_json": schema}).check("2")
            self.assertEqual(raised.exception.code, "invalid_schema")

    def test_whose_keywords_are_not_enforced_are_refused(self):
        at = "/response_format/json_schema/schema"
        for schema, part in (
                ({"fooBar": 1}, "/fooBar"), ({"not": {}}, "/not"),
                ({"minProperties": 1}, "/minProperties"),
                ({"properties": {"a": {"if": {}}}}, "/properties/a/if"),
                ({"items": [{}]}, "/items"), ({"anyOf": []}, "/anyOf"),
                ({"allOf": [{"contains": {}}]}, "/allOf/0/contains"),
                ({"$ref": "http://a/b"}, "/$ref"),
                ({"$ref": "#/$defs/a"}, "/$ref"),
                ({"format": "hostname"}, "/format"),
                ({"minLength": "1"}, "/minLength"),
                ({"maximum": "1"}, "/maximum"), ({"enum": 1}, "/enum"),
                ({"required": [1]}, "/required"),
                ({"x-guidance": {}}, "/x-guidance"),
                ({"enum": ["a" * 70000]}, "bytes"),
                ({"anyOf": [{}] * 5001}, "5000"), ([], "schema")):
            with self.assertRaises(ApiError) as raised:
                check_schema(at, schema)
            self.assertIn(part, str(raised.exception))
            self.assertTrue(raised.exception.param.startswith(at))

    def test_are_one_of_a_request(self):
        self.assertIsNone(form_of({"response_format": {"type": "text"}}))
        for fields, part in (
                ({"response_format": {"type": "json_schema"}},
                 "/response_format/json_schema"),
                ({"response_format": {"type": "json_schema", "json_schema": {
                    "name": "a"}}}, "/response_format/json_schema/schema"),
                ({"guided_json": "{"}, "/guided_json"),
                ({"guided_regex": "a" * 10001}, "/guided_regex"),
                ({"guided_regex": "a", "guided_json": {}}, "one grammar"),
                ({"guided_regex": "a", "stop": ["b"]}, "/stop"),
                ({"guided_regex": "a", "ignore_eos": True}, "/ignore_eos"),
                ({"guided_regex": "a", "min_tokens": 3}, "/min_tokens")):
            with self.assertRaises(ApiError) as raised:
                form_of(fields)
            self.assertIn(part, str(raised.exception))


class ServedStories(Stories):
    template = TEMPLATE

    def chat(self, **body):
        return self.server.ask("/v1/chat/completions", messages=USER, **body)


class WithoutThePackage(unittest.TestCase):
    @unittest.skipIf(HAS_GRAMMARS, "llguidance is there")
    def test_it_is_asked_for_by_name(self):
        with Served(os.path.join(shared.MODELS, "stories-tiny")) as server:
            status, made, _ = server.post("/v1/completions", {
                "prompt": PROMPT, "guided_regex": "a"})
            self.assertEqual(status, 400)
            self.assertIn("[grammar]", made["error"]["message"])


@unittest.skipUnless(HAS_GRAMMARS, "no llguidance, which grammars need")
class Forms(ServedStories):
    def test_of_schemas_hold_however_answers_are_drawn(self):
        bodies = [dict(response_format=STRICT, temperature=2, seed=seed,
                       max_tokens=200, n=1 + seed % 2, logprobs=True)
                  for seed in range(6)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda body: self.chat(**body), bodies))
        for body, made in zip(bodies, together):
            self.assertEqual(made["choices"], self.chat(**body)["choices"],
                             "as alone")
            for choice in made["choices"]:
                self.assertEqual(choice["finish_reason"], "stop")
                text = choice["message"]["content"]
                self.assertIsNone(fault(SCHEMA, json.loads(text)))
        chunks, _ = self.server.stream("/v1/chat/completions", messages=USER,
                                       **bodies[0])
        self.assertEqual("".join(
            chunk["choices"][0]["delta"].get("content", "")
            for chunk in chunks),
            together[0]["choices"][0]["message"]["content"])

    def test_of_patterns_and_of_other_clients(self):
        made = self.server.ask("/v1/completions", prompt=[PROMPT, "One"],
                               guided_regex="[a-f]{3}-[0-9/]{2,4}",
                               temperature=1.5, n=2, max_tokens=30,
                               seed=1)
        self.assertEqual(len({c["text"] for c in made["choices"]}), 4)
        for choice in made["choices"]:
            self.assertRegex(choice["text"], re.compile(
                "^[a-f]{3}-[0-9/]{2,4}$"))
        for words in ({"guided_json": SCHEMA},
                      {"guided_json": json.dumps(SCHEMA)},
                      {"response_format": {"type": "json_object",
                                           "value": SCHEMA}}):
            made = self.chat(max_tokens=200, **words)
            self.assertIsNone(fault(SCHEMA, json.loads(
                made["choices"][0]["message"]["content"])))
        made = self.chat(max_tokens=3, response_format={"type": "json_object"})
        self.assertEqual(made["choices"][0]["finish_reason"], "length")
        self.assertTrue(made["choices"][0]["message"]["content"][0] == "{")

    def test_leave_others_as_they_are(self):
        alone = shared.stories().generate(PROMPT, max_new_tokens=60)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            formed = pool.submit(self.chat, response_format=STRICT, n=4,
                                 max_tokens=200)
            made = self.server.ask("/v1/completions", prompt=PROMPT,
                                   max_tokens=60)
            formed.result()
        self.assertEqual(made["choices"][0]["text"], alone)

    def test_that_cannot_be_are_refused(self):
        at = "/v1/completions"
        self.refused(at, {"prompt": "a", "guided_regex": "(a"}, 400,
                     "invalid_schema", "/guided_regex")
        for schema, part in (
                ({"type": "object", "properties": {"a": {"oneOf": []}}},
                 "/guided_json/properties/a/oneOf"),
                ({"type": "strange"}, "/guided_json")):
            self.refused(at, {"prompt": "a", "guided_json": schema}, 400,
                         "invalid_schema", part)
        self.refused("/v1/chat/completions", {
            "messages": USER, "tools": [TOOL], "tool_choice": "required",
            "response_format": STRICT}, 400, "unsupported_value",
            "/response_format")

    def test_of_openais_client(self):
        try:
            import openai
            import pydantic
        except ImportError as error:
            self.skipTest(str(error))

        class Box(pydantic.BaseModel):
            count: int = pydantic.Field(ge=0, le=9)
            is_new: bool

        client = openai.OpenAI(base_url=self.server.url + "/v1", api_key="k")
        made = client.chat.completions.parse(
            model="stories-tiny", messages=USER, response_format=Box,
            max_tokens=60)
        self.assertIsInstance(made.choices[0].message.parsed, Box)


@unittest.skipUnless(HAS_GRAMMARS, "no llguidance, which grammars need")
class Tools(ServedStories):
    END = {"1": 60}  # is likely where it may come
    OTHER = {"type": "function", "function": {"name": "clock"}}

    def test_that_must_be_called_are(self):
        for choice, names in (
                ("required", {"weather", "clock"}),
                ({"type": "function", "function": {"name": "weather"}},
                 {"weather"})):
            body = dict(tools=[TOOL, self.OTHER], tool_choice=choice,
                        max_tokens=180, temperature=1, seed=5, n=2,
                        logit_bias=self.END)
            made = self.chat(**body)["choices"]
            for each in made:
                self.assertEqual(each["finish_reason"], "tool_calls")
                self.assertIsNone(each["message"]["content"])
                for call in each["message"]["tool_calls"]:
                    name = call["function"]["name"]
                    self.assertIn(name, names)
                    arguments = json.loads(call["function"]["arguments"])
                    if name == "weather":
                        self.assertIsNone(fault(CITY, arguments))
            chunks, _ = self.server.stream("/v1/chat/completions",
                                           messages=USER, **body)
            streamed = [[], []]
            for chunk in chunks:
                at = chunk["choices"][0]
                for call in at["delta"].get("tool_calls", []):
                    self.assertEqual(call["index"],
                                     len(streamed[at["index"]]))
                    streamed[at["index"]].append(call["function"])
            self.assertEqual(streamed, [
                [call["function"] for call in each["message"]["tool_calls"]]
                for each in made])

    def test_one_at_a_time(self):
        made = self.chat(tools=[TOOL], tool_choice="required", max_tokens=200,
                         parallel_tool_calls=False)
        self.assertEqual(len(made["choices"][0]["message"]["tool_calls"]), 1)

    def test_strict_ones_where_text_may_come_too(self):
        strict = {**TOOL, "function": {**TOOL["function"], "strict": True}}
        model = shared.stories()
        engine = mock.Mock(model=model)
        form = call_form(engine, ToolUse([strict], FORMATS["hermes"], "auto",
                                         16))
        masks = Grammars(model).masks(form, 1)

        def allowed_behind(text):
            """As texts of a byte each."""
            bits = masks.next(0, model.tokenizer.encode(
                text, add_special_tokens=False).ids)
            return {model.tokenizer.decode([token], False) for token in
                    np.flatnonzero(np.unpackbits(bits.view(np.uint8),
                                                 bitorder="little"))}
        self.assertGreater(len(allowed_behind("well <tool_cal")), 100)
        self.assertEqual(allowed_behind("l>"), {"\n"})
        self.assertEqual(allowed_behind(
            '\n{"name": "weather", "arguments": {"city": "'), {"R", "O"})
        self.assertGreater(len(allowed_behind('Oslo"}}\n</tool_call>')), 100)
        made = self.chat(tools=[strict], max_tokens=20)["choices"][0]
        self.assertNotIn("tool_calls", made["message"])

    def test_with_schemas_that_are_not_enforced_are_refused(self):
        tool = {"type": "function", "function": {
            "name": "f", "parameters": {"not": {}}}}
        self.refused("/v1/chat/completions", {
            "messages": USER, "tools": [tool], "tool_choice": "required"}, 400,
                     "invalid_schema", "/tools/0/function/parameters/not")
