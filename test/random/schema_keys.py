# The keys and words that a spec may have, from `tfc spec --schema`, and those
# that one has. A key is a path: "stack.layers.block.attn.window.left"; both
# stacks are "stack", entries of a map "*". A word of a closed list is
# "path=word".
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import re
import subprocess

UNSUPPORTED = "not supported by this tfc"


def read_schema(tfc):
    return json.loads(subprocess.run([tfc, "spec", "--schema"], check=True,
                                     capture_output=True, text=True).stdout)


class Keys:
    def __init__(self, schema):
        self.schema = schema

    def resolve(self, node):
        while "$ref" in node:
            node = self.schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
        return node

    def child(self, path, key, node):
        """The path of a member; a step has its op's name in it."""
        key = "stack" if not path and key in ("encoder", "decoder") else key
        op = node.get("properties", {}).get("op", {}).get("enum")
        if op and key != "op":
            key = f"{op[0]}.{key}"
        return f"{path}.{key}" if path else key

    def known(self):
        """All keys and words that this tfc supports."""
        found = set()
        self.walk_schema(self.schema, "", found)
        return found

    def walk_schema(self, node, path, found):
        node = self.resolve(node)
        described = node.get("description", "")
        unsupported = set()
        match = re.fullmatch(UNSUPPORTED + ": (.*)", described)
        if match:
            unsupported = set(match[1].split(", "))
        for word in node.get("enum", []):
            if word not in unsupported:
                found.add(f"{path}={word}")
        for choice in node.get("oneOf", []):
            self.walk_schema(choice, path, found)
        properties = node.get("properties", {})
        if properties.get("op", {}).get("description", "").startswith(
                UNSUPPORTED):
            return
        for key, member in properties.items():
            if self.resolve(member).get("description") == UNSUPPORTED:
                continue
            own = self.child(path, key, node)
            found.add(own)
            self.walk_schema(member, own, found)
        if isinstance(node.get("additionalProperties"), dict):
            self.walk_schema(node["additionalProperties"], path + ".*", found)
        if "items" in node:
            self.walk_schema(node["items"], path, found)

    def of(self, value):
        """Keys and words of a spec."""
        found = set()
        self.walk_value(value, self.schema, "", found)
        return found

    def walk_value(self, value, node, path, found):
        node = self.resolve(node)
        if "enum" in node and value in node["enum"]:
            found.add(f"{path}={value}")
        for choice in node.get("oneOf", []):
            if fits(value, self.resolve(choice)):
                self.walk_value(value, choice, path, found)
        if isinstance(value, list) and "items" in node:
            for item in value:
                self.walk_value(item, node["items"], path, found)
        if not isinstance(value, dict):
            return
        properties = node.get("properties", {})
        for key, member in value.items():
            if key in properties:
                own = self.child(path, key, node)
                found.add(own)
                self.walk_value(member, properties[key], own, found)
            elif isinstance(node.get("additionalProperties"), dict):
                self.walk_value(member, node["additionalProperties"],
                                path + ".*", found)


def fits(value, node):
    """Whether an alternative is the one of the value."""
    if "enum" in node:
        return value in node["enum"]
    if "oneOf" in node:
        return isinstance(value, dict)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool}
    kind = node.get("type")
    if kind in kinds and not isinstance(value, kinds[kind]):
        return False
    if kind == "object" and "op" in node.get("properties", {}):
        return value.get("op") in node["properties"]["op"]["enum"]
    if kind == "object" and "kind" in node.get("required", []):
        words = node["properties"]["kind"].get("enum", [])
        return value.get("kind") in words or not words
    return True
