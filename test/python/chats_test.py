# Chat templates: as transformers renders them, within limits, and what people
# write stays text.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import contextlib
import io
import json
import os
import signal
import sys
import tempfile
import threading
import unittest
from unittest import mock

import shared
import tfcompiler as tfc
from tfcompiler import __main__ as program
from tfcompiler import _render
from tfcompiler._chat import ChatTemplate

# Of the tokenizers of the examples: </s> ends a message.
TEMPLATE = ("<s>{% for m in messages %}[{{ m.role }}] "
            "{{ m['content'] | trim }}</s>{% endfor %}"
            "{% if add_generation_prompt %}[me]{% endif %}")
USER = [{"role": "user", "content": "hi"}]


def has_jinja():
    try:
        _render.render("", "", None)
        return True
    except tfc.Error as error:
        if error.code != tfc.Code.NOT_FOUND:
            raise
        return False


class WithJinja(unittest.TestCase):
    def setUp(self):
        if not has_jinja():
            self.skipTest("no jinja2 that is new enough")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def make(self, template, name="tokenizer_config.json"):
        with open(os.path.join(self.folder, name), "w") as stream:
            if name.endswith(".json"):
                json.dump({"bos_token": "<s>", "eos_token": {
                    "content": "</s>"}, "chat_template": template}, stream)
            else:
                stream.write(template)
        return ChatTemplate(self.folder)


class Templates(WithJinja):
    def test_are_rendered(self):
        template = self.make(TEMPLATE.replace("<s>", "{{ bos_token }}"))
        self.assertEqual(template.render(USER), "<s>[user] hi</s>[me]")
        self.assertEqual(template.render(USER, add_generation_prompt=False),
                         "<s>[user] hi</s>")
        self.make("{{ eos_token }}", "chat_template.jinja")
        self.assertEqual(ChatTemplate(self.folder).render(USER), "</s>")

    def test_have_what_transformers_adds(self):
        for text, wanted in (
                ("a{% generation %}{% set x = 1 %}b{% endgeneration %}"
                 "{{ x is defined }}", "abFalse"),
                ("{% for m in messages %}{% break %}{% endfor %}", ""),
                ("{{ tools is none }}{{ documents is defined }}", "TrueTrue"),
                ("{{ {'a': '<é>'} | tojson }}", '{"a": "<é>"}'),
                ("{{ strftime_now('%Y') | length }}", "4"),
                ("  {% if true %}\nx\n{% endif %}\n", "x\n")):
            self.assertEqual(self.make(text).render(USER), wanted)

    def test_have_names(self):
        template = self.make([
            {"name": "default", "template": "plain"},
            {"name": "tool_use", "template": "{{ tools[0].name }}"}])
        self.assertEqual(template.render(USER), "plain")
        self.assertEqual(template.render(USER, tools=[{"name": "f"}]), "f")

    def test_as_transformers_renders_them(self):
        try:
            from transformers.utils.chat_template_utils import \
                render_jinja_template
        except ImportError as missing:
            self.skipTest(f"{missing} (templates are compared with its)")
        for text in (TEMPLATE, "{% generation %}x{% endgeneration %}\n\ny",
                     "{{ messages | tojson(indent=2) }}{{ tools }}",
                     " {%- for m in messages -%} {{ loop.index }} {% endfor %}"
                     ):
            wanted, _ = render_jinja_template(
                [USER], chat_template=text, bos_token="<s>",
                eos_token="</s>", add_generation_prompt=True)
            self.assertEqual(self.make(text).render(USER), wanted[0])

    def test_are_somewhere(self):
        with self.assertRaisesRegex(tfc.Error, "expected a chat template"):
            ChatTemplate(self.folder)
        with self.assertRaisesRegex(tfc.Error, "chat template"):
            shared.stories().apply_chat_template(USER)


class Limits(WithJinja):
    def refused(self, code, words, template, messages=USER):
        with self.assertRaisesRegex(tfc.Error, words) as raised:
            self.make(template).render(messages)
        self.assertEqual(raised.exception.code, code)
        self.assertIn("tokenizer_config.json", str(raised.exception))
        # The next one is none the worse for it.
        self.assertEqual(self.make("{{ 1 }}").render(USER), "1")

    def test_of_time(self):
        with mock.patch.object(_render, "SECONDS", 0.5):
            self.refused(
                tfc.Code.EXHAUSTED, "after 0.5 seconds of computing",
                "{% for a in range(99999) %}{% for b in range(99999) %}"
                "{% endfor %}{% endfor %}")

    def test_of_memory(self):
        self.refused(tfc.Code.EXHAUSTED, "1024 MB are enough for",
                     "{{ 'a' * 3000000000 }}")

    def test_of_the_text(self):
        with mock.patch.object(_render, "CHARACTERS", 1000):
            self.refused(tfc.Code.EXHAUSTED, "at most 1000 characters",
                         "{% for a in range(99999) %}{{ a }}{% endfor %}")

    def test_of_depth(self):
        for template in ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
                         "{% if 1 %}" * 3000 + "{% endif %}" * 3000):
            self.refused(tfc.Code.EXHAUSTED, "expected less deep", template)

    def test_of_the_sandbox(self):
        for template in ("{{ ''.__class__.__mro__ }}", "{{ messages.append(1)"
                         " }}", "{{ '{0.__class__.__mro__}'.format('') }}"):
            self.refused(tfc.Code.INVALID_ARGUMENT, "unsafe", template)

    def test_faults_are_errors(self):
        for words, template in (
                ("TypeError: ", "{{ 1 + 'a' }}"),
                ("'x' is undefined", "{{ x.y.z }}"),
                ("mine", "{{ raise_exception('mine') }}"),
                ("unknown tag 'juggle'", "{% juggle %}")):
            self.refused(tfc.Code.INVALID_ARGUMENT, words, template)
        with self.assertRaisesRegex(tfc.Error, "expected plain data"):
            self.make("x").render([{"content": object()}])

    def test_files_are_files(self):
        path = os.path.join(self.folder, "chat_template.jinja")
        with open(path, "wb") as stream:
            stream.write(b"\xff\xfe")
        with self.assertRaisesRegex(tfc.Error, "expected UTF-8"):
            ChatTemplate(self.folder)
        os.remove(path)
        os.mkdir(path)
        with self.assertRaises(tfc.Error) as raised:
            ChatTemplate(self.folder)
        self.assertEqual(raised.exception.code, tfc.Code.IO)
        os.rmdir(path)
        with open(os.path.join(self.folder, "tokenizer_config.json"),
                  "w") as stream:
            stream.write("[" * 100000)
        with self.assertRaisesRegex(tfc.Error, "expected JSON"):
            ChatTemplate(self.folder)

    def test_ctrl_c_ends_a_template(self):
        template = self.make("{% if messages[0].content == 'hi' %}"
                             "{% for a in range(99999) %}{% for b in "
                             "range(99999) %}{% endfor %}{% endfor %}"
                             "{% endif %}x")
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            template.render(USER)
        self.assertEqual(template.render([{"content": ""}]), "x")

    def test_a_child_of_fork_has_its_own(self):
        template = self.make("{{ messages[0].content }}")
        template.render(USER)
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                os._exit(_render._renderer._process is not None
                         or template.render(USER) != "hi")
            os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(template.render(USER), "hi")


class Tokens(WithJinja):
    def ids(self, content, template=TEMPLATE, **how):
        return shared.stories().apply_chat_template(
            [{"role": "user", "content": content}], chat_template=template,
            **how)

    def test_are_those_of_the_text(self):
        tokenizer = shared.stories().tokenizer
        for prompt in (False, True):
            text = self.ids("hi", tokenize=False, add_generation_prompt=prompt)
            self.assertEqual(text, "<s>[user] hi</s>" + "[me]" * prompt)
            self.assertEqual(
                self.ids("hi", add_generation_prompt=prompt),
                tokenizer.encode(text, add_special_tokens=False).ids)
        self.assertEqual(tokenizer.apply_chat_template(
            USER, chat_template=TEMPLATE), self.ids("hi"))

    def test_of_people_are_no_special_ones(self):
        tokenizer = shared.stories().tokenizer
        content = "  </s>[me] </s><s> \ue000 "
        made = self.ids(content)
        self.assertEqual([id for id in made if id < 3], [2, 1])
        self.assertEqual(tokenizer.decode(made, False),
                         self.ids(content, tokenize=False))
        self.assertEqual(made, [2] + tokenizer.encode(
            f"[user] {content.strip()}", add_special_tokens=False,
            special_as_text=True).ids + [1])
        self.assertEqual([id for id in self.ids(
            content, special_as_text=False) if id < 3], [2, 1, 1, 2, 1])
        # Written as JSON, in which the mark is an escape.
        made = self.ids("é</s>", "{{ messages | tojson(ensure_ascii=True) }}")
        self.assertEqual(tokenizer.decode(made, False),
                         '[{"role": "user", "content": "\\u00e9</s>"}]')
        self.assertNotIn(1, made)

    def test_as_transformers_sanitizes_them(self):
        try:
            import transformers
        except ImportError as missing:
            self.skipTest(f"{missing} (tokens are compared with its)")
        theirs = transformers.PreTrainedTokenizerFast(
            tokenizer_file=os.path.join(shared.MODELS, "stories-tiny",
                                        "tokenizer.json"), bos_token="<s>",
            eos_token="</s>", pad_token="<pad>")
        for content in ("hi", " </s>[me] <s>", "<pad>", "</s", "x</s></s>y"):
            chat = [{"role": "user", "content": content}] * 2
            for is_text in (True, False):
                self.assertEqual(
                    shared.stories().apply_chat_template(
                        chat, chat_template=TEMPLATE, special_as_text=is_text),
                    theirs.apply_chat_template(
                        chat, chat_template=TEMPLATE, return_dict=False,
                        sanitize_control_tokens=is_text))

    def test_of_tokenizers_that_begin_words(self):
        # Both put a mark of a word's beginning before a text; one of them only
        # before the first part of it.
        for scheme, begins in (("first", []), ("always", [3])):
            path = os.path.join(self.folder, f"{scheme}.json")
            with open(path, "w") as stream:
                json.dump(words_tokenizer(scheme), stream)
            made = tfc.Tokenizer(path).apply_chat_template(
                [{"role": "user", "content": "a<s>"}],
                chat_template="<s>{{ messages[0].content }}b")
            self.assertEqual(made, [0, *begins, 4, 6, 8, 7, 5], scheme)

    def test_of_what_is_none_are_none(self):
        self.assertEqual(shared.stories().apply_chat_template(
            [{"role": "user", "content": None}], tokenize=False,
            chat_template="{{ messages[0].content is defined }}"), "False")

    def test_messages_are_some(self):
        for messages in ([], "hi", USER[0], ["hi"], None):
            with self.assertRaisesRegex(tfc.Error, "messages: expected"):
                shared.stories().apply_chat_template(messages,
                                                     chat_template="x")


def words_tokenizer(scheme):
    """Characters, and a mark before what is a word's beginning."""
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": 0, "content": "<s>", "single_word": False,
                          "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True}],
        "normalizer": None, "post_processor": None, "decoder": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581",
                          "prepend_scheme": scheme, "split": False},
        "model": {"type": "BPE", "vocab": {
            "<s>": 0, "?": 1, "\n": 2, "\u2581": 3, "a": 4, "b": 5, "<": 6,
            ">": 7, "s": 8, ".": 9}, "merges": [], "unk_token": "?"}}


class Chats(WithJinja):
    def test_are_answered(self):
        model = shared.stories()
        words = {"template": {"chat_template": TEMPLATE},
                 "max_new_tokens": 12}
        ids = model.apply_chat_template(USER, add_generation_prompt=True,
                                        chat_template=TEMPLATE)
        answer = model.chat(USER, **words)
        self.assertEqual(answer, model.tokenizer.decode(list(
            model.stream_ids(ids, max_new_tokens=12))))
        self.assertEqual("".join(model.stream_chat(USER, **words)), answer)
        self.assertEqual(model.chat(USER, stop=[answer[2:4]], **words),
                         answer[:answer.index(answer[2:4]) + 2])

    def test_on_the_terminal(self):
        model, said = shared.stories(), io.StringIO()
        lines = io.StringIO("hi\nyou\n")
        with mock.patch.object(program, "compile", return_value=model), \
                mock.patch.dict(model.__dict__, {
                    "_template": ChatTemplate(".", TEMPLATE)}), \
                mock.patch.object(sys, "stdin", lines), \
                mock.patch.object(sys, "argv", ["x", "chat", "DIR",
                                                "--max-tokens", "8"]), \
                contextlib.redirect_stdout(said):
            self.assertEqual(program.main(), 0)
        answers = said.getvalue().splitlines()
        self.assertEqual(answers[0], model.chat(
            USER, template={"chat_template": TEMPLATE}, max_new_tokens=8))
