# Tools of chats: what is asked, and calls in what a model writes.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import tempfile
import unittest

import shared
from serving import Served, Stories
from tfcompiler.serve._calls import FORMATS, CallReader, find_format

# As small as one with tools can be; of the first format.
TEMPLATE = """{% if tools %}{{ tools | tojson }} in <tool_call></tool_call>
{% endif %}{% for m in messages %}{{ m.role }}: {{ m.content }}{% for c in
m.tool_calls %}{{ c.function.name }}({{ c.function.arguments.city }}){% endfor %}
{% endfor %}{% if add_generation_prompt %}teller:{% endif %}"""
CITY = {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}},
        "required": ["city"], "additionalProperties": False}
TOOL = {"type": "function", "function": {
    "name": "weather", "description": "of a city", "parameters": CITY}}
USER = [{"role": "user", "content": "is it warm?"}]
ASKED = USER + [
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {
            "name": "weather", "arguments": '{"city": "Rome"}'}}]},
    {"role": "tool", "tool_call_id": "a", "content": "[30]"}]


def read(format, text, cuts=(), most=128):
    """Text and calls of an answer that comes in pieces."""
    reader = CallReader(FORMATS[format], {"f", "g"}, most)
    made, calls, begin = "", [], 0
    for end in [*cuts, len(text)]:
        new, found = reader.push(text[begin:end], end == len(text))
        made += new
        calls += [(each.name, json.loads(each.arguments)) for each in found]
        begin = end
    return made, calls


F, G = '{"name": "f", "arguments": {"x": 1}}', \
    '{"arguments": {}, "name": "g"}'
BOTH = [("f", {"x": 1}), ("g", {})]


class Calls(unittest.TestCase):
    CASES = (
        ("hermes", f"<tool_call>\n{F}\n</tool_call>", "", BOTH[:1]),
        ("hermes", f"well <b>\n\n<tool_call>{F}</tool_call>\n"
         f"<tool_call>{G}</tool_call>\n", "well <b>", BOTH),
        ("hermes", f"<tool_call>{F}</tool_call> and so", "and so", BOTH[:1]),
        ("hermes", f"<tool_call>{F}", "", BOTH[:1]),  # the end forgotten
        ("hermes", "a <tool_ca b ", "a <tool_ca b ", []),
        # What is no call is text, as it was written.
        *(("hermes", text, text, []) for text in (
            "<tool_call>{</tool_call>", "<tool_call>{} x",
            '<tool_call>{"name": "h", "arguments": {}}</tool_call>!',
            '<tool_call>{"name": "f", "arguments": [1]}</tool_call>',
            '<tool_call>{"name": "f", "arguments": {"x": NaN}}</tool_call>',
            "<tool_call>" + "[" * 99999, "<tool_call>" * 3)),
        ("mistral", f"[TOOL_CALLS] [{F}, {G}]", "", BOTH),
        ("mistral", f"so: [TOOL_CALLS][{F}, 3]", f"so: [TOOL_CALLS][{F}, 3]",
         []),
        ("llama", '{"name": "f", "parameters": {"x": 1}}; '
         '{"name": "g", "parameters": {}}', "", BOTH),
        ("llama", '<|python_tag|>{"name": "f", "parameters": {"x": 1}}', "",
         BOTH[:1]),
        ("llama", f" {F}", f" {F}", []),
        ("llama", "no {", "no {", []),
        ("llama", " <|py", " <|py", []),
        ("llama", "", "", []))

    def test_are_those_of_the_whole_text_at_every_cut(self):
        for format, text, made, calls in self.CASES:
            with self.subTest(text[:80]):
                self.assertEqual(read(format, text), (made, calls))
                if len(text) < 200:
                    for cut in range(len(text)):
                        self.assertEqual(read(format, text, [cut]),
                                         (made, calls), cut)
                    self.assertEqual(read(format, text, range(1, len(text))),
                                     (made, calls))

    def test_are_as_many_as_there_may_be(self):
        text = f"<tool_call>{F}</tool_call> <tool_call>{G}</tool_call> more"
        self.assertEqual(read("mistral", f"[TOOL_CALLS][{F}, {G}]", [], 1),
                         ("", BOTH[:1]))
        for cut in range(len(text)):
            self.assertEqual(read("hermes", text, [cut], 1), ("", BOTH[:1]))

    def test_are_written_as_the_template_says(self):
        for template, name in (
                (TEMPLATE, "hermes"), ("[TOOL_CALLS]", "mistral"),
                ('ipython {"name": ., "parameters": .}', "llama"),
                ("<tool_call><function=f>", None), ("{{ tools }}", None)):
            found = find_format(template)
            self.assertEqual(found and found.name, name)


class Chats(Stories):
    template = TEMPLATE

    def ask(self, **body):
        return self.server.ask("/v1/chat/completions", max_tokens=12, **body)

    def alone(self, messages, **words):
        return shared.stories().chat(
            messages, template={"chat_template": TEMPLATE, **words},
            max_new_tokens=12)

    def test_the_template_sees_tools_and_their_answers(self):
        parsed = [USER[0], {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "weather", "arguments": {"city": "Rome"}}}]},
            {"role": "tool", "content": "[30]"}]
        plain = self.alone(parsed)
        shown = self.alone(parsed, tools=[TOOL])
        self.assertNotEqual(plain, shown)
        for words, expected in (
                ({}, plain), ({"tools": [TOOL]}, shown), ({"tools": []}, plain),
                ({"tools": [TOOL], "tool_choice": "none"}, plain),
                ({"tools": [TOOL], "parallel_tool_calls": False}, shown)):
            choice = self.ask(messages=ASKED, **words)["choices"][0]
            self.assertEqual(choice["message"]["content"], expected, words)
            self.assertEqual(choice["finish_reason"], "length")
            self.assertNotIn("tool_calls", choice["message"])

    def test_wrong_requests_are_refused_by_name(self):
        def tool(**function):
            return [{"type": "function", "function": function}]
        calls = [{"function": {"name": "f", "arguments": "[1]"}}]
        for body, part in (
                ({"tools": [{}]}, "/tools/0/type"),
                ({"tools": [{"type": "code"}]}, "/tools/0/type"),
                ({"tools": tool()}, "/tools/0/function/name"),
                ({"tools": tool(name="a b")}, "/tools/0/function/name"),
                ({"tools": tool(name="a", parameter={})}, "'parameters'"),
                ({"tools": [TOOL, TOOL]}, "differ"),
                ({"tools": [TOOL] * 129}, "/tools"),
                ({"tool_choice": "auto"}, "/tool_choice"),
                ({"tools": [TOOL], "tool_choice": "any"}, "/tool_choice"),
                ({"tools": [TOOL], "tool_choice": {
                    "type": "function", "function": {"name": "b"}}},
                 "/tool_choice/function/name"),
                ({"messages": [{"role": "assistant", "tool_calls": calls}]},
                 "/messages/0/tool_calls/0/function/arguments"),
                ({"messages": [{"role": "assistant", "tool_calls": [{}]}]},
                 "/messages/0/tool_calls/0/function")):
            status, made, _ = self.server.post(
                "/v1/chat/completions", {"messages": USER, **body})
            self.assertEqual(status, 400, made)
            self.assertIn(part, made["error"]["message"])


class WithoutTools(unittest.TestCase):
    def test_a_template_that_knows_none_is_named(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jinja") as stream:
            stream.write("{{ messages[0].content }}")
            stream.flush()
            with Served(os.path.join(shared.MODELS, "stories-tiny"),
                        "--chat-template", stream.name) as server:
                status, made, _ = server.post(
                    "/v1/chat/completions", {"messages": USER,
                                             "tools": [TOOL]})
                self.assertEqual(status, 400)
                self.assertIn("stories-tiny", made["error"]["message"])
                self.assertIn("hermes", made["error"]["message"])
