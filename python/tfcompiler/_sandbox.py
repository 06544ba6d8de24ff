# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that renders chat templates: a program of its own, without this
package. A line of JSON in is a template and its variables, a line out what it
gives: {"text": ...}, or {"error": ..., "code": ...}."""
import datetime
import json
import resource
import signal
import sys

INVALID_ARGUMENT, NOT_FOUND, EXHAUSTED = 1, 2, 4  # of Code
_OLDEST = (3, 1, 6)  # ways out of the sandboxes of older ones are known
_templates = {}


class TooLong(Exception):
    """Of a text."""


def make_environment():
    """Jinja2's sandbox with what transformers adds to it."""
    import jinja2.ext
    import jinja2.sandbox

    class Generation(jinja2.ext.Extension):
        """{% generation %} says what an assistant wrote; it is text."""

        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",),
                                           drop_needle=True)
            return jinja2.nodes.Scope(body).set_lineno(line)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True,
        extensions=[Generation, "jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = (
        lambda form: datetime.datetime.now().strftime(form))
    return environment


def to_json(value, ensure_ascii=False, indent=None, separators=None,
            sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent,
                      separators=separators, sort_keys=sort_keys)


def refuse(message):
    import jinja2
    raise jinja2.TemplateError(message)


def render(environment, request):
    """The text; without variables the template is only read."""
    text = request["template"]
    if text not in _templates:
        _templates.clear()
        _templates[text] = environment.from_string(text)
    if request["variables"] is None:
        return ""
    parts, size = [], 0
    for part in _templates[text].generate(**request["variables"]):
        parts.append(part)
        size += len(part)
        if size > request["characters"]:
            raise TooLong
    return "".join(parts)


def answer(environment, request):
    import jinja2
    try:
        return {"text": render(environment, request)}
    except TooLong:
        return {"code": EXHAUSTED, "error": "expected a text of at most "
                f"{request['characters']} characters, got more"}
    except MemoryError:
        return {"code": EXHAUSTED, "error": "expected a text that "
                f"{request['bytes'] >> 20} MB are enough for, got one that "
                "needs more"}
    except RecursionError:
        return {"code": EXHAUSTED, "error": "expected less deep a template"}
    except jinja2.TemplateError as error:
        return {"code": INVALID_ARGUMENT, "error": str(error)[:1000]}
    except Exception as error:  # whatever a stranger's program may raise
        return {"code": INVALID_ARGUMENT,
                "error": f"{type(error).__name__}: {str(error)[:1000]}"}


def missing():
    """What is wrong with the jinja2 that is there; None when nothing is."""
    wanted = ("expected the package jinja2, "
              f"{'.'.join(map(str, _OLDEST))} or later, for chat templates "
              "(pip install jinja2), got ")
    try:
        import importlib.metadata

        import jinja2.sandbox  # noqa: F401
        found = importlib.metadata.version("jinja2")
    except ImportError:
        return wanted + "none"
    numbers = tuple(int(part) for part in found.split(".")[:3]
                    if part.isdigit())
    return None if numbers >= _OLDEST else wanted + found


def limit_memory(size):
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    size = size if most == resource.RLIM_INFINITY else min(size, most)
    resource.setrlimit(resource.RLIMIT_AS, (size, most))


def main():
    sys.path[:] = json.loads(sys.stdin.readline())
    fault = missing()
    environment = None if fault else make_environment()
    for line in sys.stdin:
        request = json.loads(line)
        limit_memory(request["bytes"])
        # The signal, which nobody catches, ends the process.
        signal.setitimer(signal.ITIMER_PROF, request["seconds"])
        made = {"code": NOT_FOUND, "error": fault} if fault else \
            answer(environment, request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(made) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
