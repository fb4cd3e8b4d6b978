#!/usr/bin/env python3
"""Draws random schemas, has a random model write texts that follow them, and validates each with jsonschema.

    grammar_schemas.py --program build/release/bin/effc-grammar-texts --vocabulary MODEL.effc [--count 1000]

Needs hypothesis-jsonschema with hypothesis 6.98, jsonschema and rfc3339-validator. A schema is drawn by hypothesis-jsonschema from a schema of schemas, which
has every keyword that the runtime understands. `--record FILE` keeps some schemas, each with a text that jsonschema found
to fit: two lines of JSON, for EffcGrammarTests.
"""
import argparse
import json
import subprocess
import sys
import warnings

import hypothesis
import jsonschema
from hypothesis_jsonschema import from_schema

SMALL = {"type": "integer", "minimum": 0, "maximum": 4}
NAMES = ["a", "ab", "name", "x\"y", "\u00e9", "type"]
PATTERNS = ["^[a-z]{1,5}$", "^\\d{3}-\\d{2}$", "x", "^(yes|no)$", "^[^\"]*\\\\$", "^.{2,3}"]


def with_keywords(type_name, **keywords):
    return {"type": "object", "additionalProperties": False, "required": ["type"],
            "properties": {"type": {"const": type_name}, **keywords}}


def schema_of_schemas(depth):
    """What is generated down to `depth` schemas in each other."""
    values = {"enum": [0, 1, -2, 2.5, "a", "\u20ac\"\n", True, None, [1, "b"], {"k": [None]}]}
    leaves = [
        with_keywords("string", minLength=SMALL),
        with_keywords("string", maxLength={"type": "integer", "minimum": 4, "maximum": 9}),
        {"type": "object", "required": ["pattern"], "additionalProperties": False,
         "properties": {"pattern": {"enum": PATTERNS}, "type": {"const": "string"}}},
        {"type": "object", "required": ["format"], "additionalProperties": False,
         "properties": {"format": {"enum": ["date", "time", "date-time", "uuid"]}, "type": {"const": "string"}}},
        with_keywords("integer", minimum={"type": "integer", "minimum": -2000, "maximum": 10},
                      maximum={"type": "integer", "minimum": 10, "maximum": 123456}),
        with_keywords("integer", exclusiveMinimum={"type": "integer", "minimum": -30, "maximum": 30}),
        with_keywords("number"), with_keywords("boolean"), with_keywords("null"),
        {"type": "object", "required": ["enum"], "additionalProperties": False,
         "properties": {"enum": {"type": "array", "minItems": 1, "maxItems": 4, "items": values}}},
        {"type": "object", "required": ["const"], "additionalProperties": False, "properties": {"const": values}},
        {"type": "object", "required": ["type"], "additionalProperties": False, "properties": {
            "type": {"type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": True,
                     "items": {"enum": ["string", "integer", "null", "boolean"]}},
            "title": {"enum": ["T"]}, "description": {"enum": ["d"]}}},
    ]
    if depth == 0:
        return {"anyOf": leaves}
    inner = schema_of_schemas(depth - 1)
    named = {"type": "object", "additionalProperties": False, "properties": {name: inner for name in NAMES}}
    names = {"type": "array", "maxItems": 3, "uniqueItems": True, "items": {"enum": NAMES}}
    return {"anyOf": leaves[:4] + [
        with_keywords("object", properties=named, required=names),
        with_keywords("object", properties=named, required=names, additionalProperties=inner),
        with_keywords("object", additionalProperties=inner),
        with_keywords("array", items=inner, minItems={"type": "integer", "minimum": 0, "maximum": 2},
                      maxItems={"type": "integer", "minimum": 2, "maximum": 4}),
        with_keywords("array", prefixItems={"type": "array", "minItems": 1, "maxItems": 3, "items": inner}, minItems=SMALL),
        {"type": "object", "required": ["anyOf"], "additionalProperties": False,
         "properties": {"anyOf": {"type": "array", "minItems": 1, "maxItems": 3, "items": inner}}},
        {"type": "object", "required": ["allOf"], "additionalProperties": False, "properties": {
            "allOf": {"type": "array", "minItems": 2, "maxItems": 2,
                      "items": with_keywords("object", properties=named, required=names)}}},
        {"type": "object", "required": ["$ref", "$defs"], "additionalProperties": False, "properties": {
            "$ref": {"const": "#/$defs/d"}, "$defs": {"type": "object", "required": ["d"], "additionalProperties": False,
                                                      "properties": {"d": inner}}}},
    ]}


def draw_schemas(count, seed, depth):
    drawn = {}
    strategy = from_schema(schema_of_schemas(depth))
    # Some come several times.
    while len(drawn) < count:
        @hypothesis.settings(max_examples=count - len(drawn), database=None, deadline=None,
                             suppress_health_check=list(hypothesis.HealthCheck), phases=[hypothesis.Phase.generate])
        @hypothesis.seed(seed)
        @hypothesis.given(strategy)
        def collect(schema):
            drawn[json.dumps(schema)] = schema

        collect()
        seed += 1000003
    return list(drawn.values())[:count]


def move_references(schema):
    """`#/$defs/d` as it is drawn is meant from where it stands; names the definitions by numbers at the root."""
    definitions = {}

    def walk(value):
        if isinstance(value, list):
            return [walk(item) for item in value]
        if not isinstance(value, dict):
            return value
        moved = {key: walk(item) for key, item in value.items() if not (key == "$defs" and "$ref" in value)}
        if "$ref" in value and "$defs" in value:
            name = f"d{len(definitions)}"
            definitions[name] = None
            definitions[name] = walk(value["$defs"]["d"])
            moved["$ref"] = f"#/$defs/{name}"
        return moved

    moved = walk(schema)
    return {**moved, "$defs": definitions} if definitions else moved


def texts_for(program, vocabulary, seed, schemas):
    done = subprocess.run([program, vocabulary, str(seed)], stdout=subprocess.PIPE, check=True,
                          input="\n".join(map(json.dumps, schemas)).encode() + b"\n").stdout
    results, at = [], 0
    while at < len(done):
        end = done.index(b"\n", at)
        kind, size = done[at:end].decode().split()
        results.append((kind, done[end + 1:end + 1 + int(size)]))
        at = end + 2 + int(size)
    assert len(results) == len(schemas), (len(results), len(schemas))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--vocabulary", required=True, help="an .effc file, or a list of tokens")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=1, help="schemas in each other; 2 takes long to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", help="a file for some schemas with their texts")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    schemas = [move_references(schema) for schema in draw_schemas(arguments.count, arguments.seed, arguments.depth)]
    results = texts_for(arguments.program, arguments.vocabulary, arguments.seed, schemas)
    counts, wrong, recorded = {}, 0, []
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    for schema, (kind, text) in zip(schemas, results):
        counts[kind] = counts.get(kind, 0) + 1
        validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
        problem = None
        if kind == "failed":
            problem = text.decode(errors="replace")
        elif kind == "refused":
            counts[text.decode().split("': ")[-1]] = counts.get(text.decode().split("': ")[-1], 0) + 1
        elif kind == "text":
            try:
                problem = next((error.message for error in validator.iter_errors(json.loads(text))), None)
            except ValueError as error:
                problem = str(error)
        if problem:
            wrong += 1
            print(f"{json.dumps(schema)}\n  {text[:300]!r}\n  {problem}")
        elif kind == "text" and len(text) < 120 and len(recorded) < 60 and len(json.dumps(schema)) > 60:
            recorded.append({"schema": schema, "text": text.decode()})
    print(f"{len(schemas)} schemas, {counts}, {wrong} wrong")
    if arguments.record:
        with open(arguments.record, "w") as file:
            for each in recorded:
                file.write(json.dumps(each["schema"]) + "\n" + json.dumps(each["text"]) + "\n")
    return 1 if wrong or counts.get("text", 0) < arguments.count * 0.7 else 0


if __name__ == "__main__":
    sys.exit(main())
