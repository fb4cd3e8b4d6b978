#!/usr/bin/env python3
"""Holds a running `effc serve` to what the public package openai (3 or later) expects.

    effc serve m.effc --port 0 --port-file p --slots 8 &
    python test/e2e/serve/openai_client.py --base-url http://127.0.0.1:$(cat p)/v1

Each check is a line; the exit status is 1 where one fails. The first model has to have a
tokenizer and a chat template, and room for 64 tokens. What its template cannot do, or no
model that is served has, is left out, and a line says so: calls of tools by a template
that writes them, their refusal by one that does not; texts that are too long for a model
whose texts have a longest length.
"""
import argparse
import concurrent.futures
import json
import math
import sys
import time
import urllib.request

import openai

CHECKS = []


class LeftOut(Exception):
    """A check is about what the served models do not have."""


def check(function):
    CHECKS.append(function)
    return function


class Server:
    def __init__(self, base_url):
        self.base_url = base_url
        self.root = base_url.removesuffix("/v1")
        self.client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0, timeout=120)
        self.models = self.client.models.list().data
        self.model = self.models[0].id

    def complete(self, prompt="One two three", **options):
        options.setdefault("max_tokens", 8)
        options.setdefault("temperature", 0)
        return self.client.completions.create(model=self.model, prompt=prompt, **options)

    def chat(self, content="Say hello.", **options):
        options.setdefault("max_completion_tokens", 8)
        options.setdefault("temperature", 0)
        messages = options.pop("messages", [{"role": "user", "content": content}])
        return self.client.chat.completions.create(model=self.model, messages=messages, **options)

    def metric(self, name):
        text = urllib.request.urlopen(self.root + "/metrics").read().decode()
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))

    def tokens(self, prompt):
        body = json.dumps({"model": self.model, "prompt": prompt}).encode()
        request = urllib.request.Request(self.root + "/tokenize", body, {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request))["tokens"]

    def requires_calls(self, wanted):
        """Leaves a check out where the template writes calls of tools, or does not, unlike `wanted`."""
        try:
            self.chat(tools=[TOOL], max_completion_tokens=1)
            found = True
        except openai.BadRequestError as error:
            assert error.param == "tools", error
            found = False
        if found != wanted:
            raise LeftOut("the template writes calls of tools" if found else "the template writes no calls of tools")


TOOL = {"type": "function", "function": {"name": "weather", "description": "The weather of a city.", "parameters": {
    "type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}, "days": {"enum": [1, 2, 3]}},
    "required": ["city", "days"], "additionalProperties": False}}}


def refused(call, kind, *words):
    try:
        call()
    except kind as error:
        text = str(error)
        missing = [word for word in words if word not in text]
        assert not missing, f"the message lacks {missing}: {text}"
        return error
    raise AssertionError(f"no {kind.__name__}")


# Models

@check
def models_are_listed(s):
    assert s.client.models.list().data[0].owned_by == "effc"

@check
def a_model_is_found(s):
    assert s.client.models.retrieve(s.model).id == s.model

@check
def an_unknown_model_is_not_found(s):
    refused(lambda: s.client.models.retrieve("none"), openai.NotFoundError, "none", s.model)

@check
def an_unknown_model_completes_nothing(s):
    error = refused(lambda: s.client.completions.create(model="none", prompt="x"), openai.NotFoundError)
    assert error.code == "model_not_found" and error.param == "model"


# Completions

@check
def a_text_goes_on(s):
    answer = s.complete()
    assert answer.object == "text_completion" and answer.choices[0].text and answer.id.startswith("cmpl-")

@check
def usage_adds_up(s):
    usage = s.complete(max_tokens=5).usage
    assert usage.prompt_tokens == len(s.tokens("One two three")) and usage.completion_tokens == 5
    assert usage.total_tokens == usage.prompt_tokens + 5

@check
def greedy_is_the_same_twice(s):
    assert s.complete().choices[0].text == s.complete().choices[0].text

@check
def tokens_as_a_prompt_are_the_text(s):
    assert s.complete(prompt=s.tokens("One two three")).choices[0].text == s.complete().choices[0].text

@check
def a_list_of_texts_has_an_answer_each(s):
    together = s.complete(prompt=["One two three", "The sky is"])
    assert [c.index for c in together.choices] == [0, 1]
    assert together.choices[1].text == s.complete(prompt="The sky is").choices[0].text

@check
def a_list_of_token_lists_too(s):
    together = s.complete(prompt=[s.tokens("One two three"), s.tokens("The sky is")])
    assert together.choices[0].text == s.complete().choices[0].text

@check
def forty_prompts_are_more_than_slots(s):
    answer = s.complete(prompt=[f"{i} and" for i in range(40)], max_tokens=2)
    assert [c.index for c in answer.choices] == list(range(40))

@check
def a_seed_gives_the_same(s):
    first, second = (s.complete(temperature=1, seed=7).choices[0].text for _ in range(2))
    assert first == second

@check
def seeds_differ(s):
    assert len({s.complete(temperature=1, seed=i, max_tokens=16).choices[0].text for i in range(4)}) > 1

@check
def choices_differ_and_follow_from_seeds(s):
    answer = s.complete(temperature=1, seed=5, n=3, max_tokens=16)
    assert len({c.text for c in answer.choices}) > 1
    assert answer.choices[2].text == s.complete(temperature=1, seed=7, max_tokens=16).choices[0].text

@check
def more_choices_than_slots(s):
    answer = s.complete(temperature=1, seed=5, n=20, max_tokens=4)
    assert len(answer.choices) == 20
    assert answer.choices[19].text == s.complete(temperature=1, seed=24, max_tokens=4).choices[0].text

@check
def a_drawn_seed_is_told(s):
    answer = s.complete(temperature=1, max_tokens=16)
    seed = answer.model_extra["effc"]["seed"]
    assert s.complete(temperature=1, seed=seed, max_tokens=16).choices[0].text == answer.choices[0].text

@check
def a_length_ends(s):
    assert s.complete(max_tokens=1).choices[0].finish_reason == "length"

@check
def a_stop_ends_and_is_left_out(s):
    whole = s.complete(max_tokens=12).choices[0].text
    stop = whole[4:7]
    answer = s.complete(max_tokens=12, stop=stop).choices[0]
    assert answer.finish_reason == "stop" and answer.text == whole[:whole.index(stop)]

@check
def several_stops(s):
    whole = s.complete(max_tokens=12).choices[0].text
    assert s.complete(max_tokens=12, stop=["never said", whole[2]]).choices[0].text == whole[:whole.index(whole[2])]

@check
def logprobs_are_in_order(s):
    found = s.complete(logprobs=3, max_tokens=4).choices[0].logprobs
    assert len(found.tokens) == len(found.token_logprobs) == len(found.top_logprobs) == len(found.text_offset) == 4
    for own, top in zip(found.token_logprobs, found.top_logprobs):
        assert own == max(top.values()) and own <= 0 and len(top) == 3

@check
def echo_returns_the_prompt(s):
    assert s.complete(echo=True, max_tokens=2).choices[0].text.startswith("One two three")

@check
def echo_of_nothing_new(s):
    answer = s.complete(echo=True, max_tokens=0)
    assert answer.choices[0].text == "One two three" and answer.usage.completion_tokens == 0

@check
def echo_scores_the_prompt(s):
    found = s.complete(echo=True, logprobs=1, max_tokens=1).choices[0].logprobs
    count = len(s.tokens("One two three")) + 1
    assert len(found.token_logprobs) == count and found.token_logprobs[0] is None
    assert all(x is not None and x <= 0 for x in found.token_logprobs[1:])

@check
def scores_and_draws_agree(s):
    # As tokens: the text of what was drawn may be cut into others.
    prompt, by_number = s.tokens("One two three"), {"return_tokens_as_token_ids": True}
    drawn = s.complete(prompt=prompt, logprobs=1, max_tokens=4, extra_body=by_number).choices[0].logprobs
    tokens = [int(token.removeprefix("token_id:")) for token in drawn.tokens]
    scored = s.complete(prompt=prompt + tokens, echo=True, logprobs=1, max_tokens=0, extra_body=by_number).choices[0].logprobs
    assert scored.tokens[-4:] == drawn.tokens
    for a, b in zip(drawn.token_logprobs, scored.token_logprobs[-4:]):
        assert math.isclose(a, b, abs_tol=1e-4), (a, b)

@check
def a_bias_forbids(s):
    first = s.tokens(s.complete(max_tokens=1).choices[0].text)[0]
    answer = s.complete(max_tokens=1, logit_bias={str(first): -100})
    assert s.tokens(answer.choices[0].text) != [first]


# Streams

@check
def a_stream_is_the_whole(s):
    parts = list(s.complete(stream=True))
    assert "".join(p.choices[0].text for p in parts) == s.complete().choices[0].text
    assert parts[-1].choices[0].finish_reason == "length" and len({p.id for p in parts}) == 1

@check
def a_stream_tells_its_usage(s):
    parts = list(s.complete(stream=True, stream_options={"include_usage": True}))
    assert parts[-1].choices == [] and parts[-1].usage.completion_tokens == 8
    assert all(p.usage is None for p in parts[:-1])

@check
def a_stream_of_choices(s):
    texts = ["", "", ""]
    for part in s.complete(stream=True, n=3, temperature=1, seed=5, max_tokens=16):
        texts[part.choices[0].index] += part.choices[0].text
    assert texts == [c.text for c in s.complete(n=3, temperature=1, seed=5, max_tokens=16).choices]

@check
def a_stream_stops(s):
    whole = s.complete(max_tokens=12).choices[0].text
    text = "".join(p.choices[0].text for p in s.complete(max_tokens=12, stop=whole[4:7], stream=True))
    assert text == whole[:whole.index(whole[4:7])]

@check
def a_stream_has_logprobs(s):
    parts = [p.choices[0].logprobs for p in s.complete(stream=True, logprobs=1, max_tokens=4)]
    assert sum(len(p.tokens) for p in parts if p) == 4

@check
def a_stream_that_is_left_is_cancelled(s):
    before = s.metric('effc_requests_total{model="%s",reason="cancelled"}' % s.model)
    stream = s.complete(stream=True, max_tokens=1000)
    next(iter(stream))
    stream.close()
    for _ in range(100):
        if s.metric('effc_requests_total{model="%s",reason="cancelled"}' % s.model) > before:
            return
        time.sleep(0.05)
    raise AssertionError("it went on")

@check
def thirty_two_streams_at_once(s):
    def one(i):
        return "".join(p.choices[0].text for p in s.complete(prompt=f"{i} and", stream=True))
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        together = list(pool.map(one, range(32)))
    assert together[17] == one(17)


# Conversations

@check
def a_conversation_is_answered(s):
    answer = s.chat()
    assert answer.object == "chat.completion" and answer.choices[0].message.role == "assistant"
    assert answer.choices[0].message.content and answer.id.startswith("chatcmpl-")

@check
def parts_are_a_text(s):
    parts = [{"type": "text", "text": "Say hello."}]
    assert s.chat(content=parts).choices[0].message.content == s.chat().choices[0].message.content

@check
def a_conversation_goes_on(s):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Again"}]
    assert s.chat(messages=messages).usage.prompt_tokens > s.chat(messages=messages[:2]).usage.prompt_tokens

@check
def a_conversation_streams(s):
    parts = list(s.chat(stream=True))
    assert parts[0].choices[0].delta.role == "assistant" and parts[0].object == "chat.completion.chunk"
    assert "".join(p.choices[0].delta.content or "" for p in parts) == s.chat().choices[0].message.content

@check
def a_conversation_has_logprobs(s):
    found = s.chat(logprobs=True, top_logprobs=2, max_completion_tokens=3).choices[0].logprobs.content
    assert len(found) == 3 and all(len(entry.top_logprobs) == 2 for entry in found)
    assert found[0].logprob == found[0].top_logprobs[0].logprob

@check
def max_tokens_of_old(s):
    answer = s.client.chat.completions.create(model=s.model, max_tokens=3,
                                              messages=[{"role": "user", "content": "Hi"}])
    assert answer.usage.completion_tokens <= 3

@check
def plain_text_as_a_format(s):
    assert s.chat(response_format={"type": "text"}).choices[0].message.content

@check
def tools_that_nobody_may_call(s):
    assert s.chat(tools=[TOOL], tool_choice="none").choices[0].message.content


# Calls of tools

# The grammar lets a model write 20 spaces at each place that may have some, and a small one does: 400 tokens do for all.

def called(message):
    """The one call of a message, whose arguments fit the tool's schema."""
    assert message.content is None and len(message.tool_calls) == 1, message
    call = message.tool_calls[0]
    assert call.type == "function" and call.id and call.function.name == "weather"
    arguments = json.loads(call.function.arguments)
    assert list(arguments) == ["city", "days"] and arguments["city"] in ("Paris", "Rome") and arguments["days"] in (1, 2, 3)
    return call

@check
def a_tool_is_called(s):
    s.requires_calls(True)
    for choice in ("required", {"type": "function", "function": {"name": "weather"}}):
        answer = s.chat(tools=[TOOL], tool_choice=choice, parallel_tool_calls=False, max_completion_tokens=400)
        assert answer.choices[0].finish_reason == "tool_calls"
        called(answer.choices[0].message)

@check
def a_call_streams(s):
    s.requires_calls(True)
    options = dict(tools=[TOOL], tool_choice="required", parallel_tool_calls=False, max_completion_tokens=400)
    name, arguments, reason = "", "", None
    for part in s.chat(stream=True, **options):
        for piece in part.choices[0].delta.tool_calls or []:
            assert piece.index == 0
            name += piece.function.name or ""
            arguments += piece.function.arguments or ""
        reason = part.choices[0].finish_reason or reason
    whole = called(s.chat(**options).choices[0].message)
    assert (name, arguments, reason) == ("weather", whole.function.arguments, "tool_calls")

@check
def what_a_tool_says_goes_on(s):
    s.requires_calls(True)
    asked = {"role": "user", "content": "How is the weather?"}
    answer = s.chat(messages=[asked], tools=[TOOL], tool_choice="required", parallel_tool_calls=False,
                    max_completion_tokens=400)
    message = answer.choices[0].message
    told = [asked, message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": called(message).id, "content": "Rain."}]
    after = s.chat(messages=told, tools=[TOOL])
    assert after.usage.prompt_tokens > answer.usage.prompt_tokens and after.usage.completion_tokens > 0

@check
def an_unknown_tool_is_refused(s):
    s.requires_calls(True)
    call = lambda: s.chat(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "none"}})
    assert refused(call, openai.BadRequestError).param == "tool_choice"


# Errors

@check
def tools_are_refused_by_name(s):
    s.requires_calls(False)  # as that of SmolLM2
    assert refused(lambda: s.chat(tools=[TOOL]), openai.BadRequestError).param == "tools"
    call = lambda: s.chat(tools=[TOOL], tool_choice="required")
    assert refused(call, openai.BadRequestError).param == "tools"

@check
def formats_are_refused_by_name(s):
    call = lambda: s.chat(response_format={"type": "json_schema", "json_schema": {
        "name": "n", "schema": {"type": "integer", "multipleOf": 3}}})
    assert refused(call, openai.BadRequestError).param == "response_format"

@check
def answers_fit_a_schema(s):
    schema = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}, "big": {"type": "boolean"}},
              "required": ["city", "big"], "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    answer = s.chat(response_format=form, max_completion_tokens=400)
    found = json.loads(answer.choices[0].message.content)
    assert found["city"] in ("Paris", "Rome") and isinstance(found["big"], bool) and len(found) == 2

@check
def members_come_in_the_schemas_order(s):
    names = ["zeta", "mid", "alpha"]
    schema = {"type": "object", "properties": {name: {"type": "boolean"} for name in names}, "required": sorted(names),
              "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    answer = s.chat(response_format=form, max_completion_tokens=400)
    assert list(json.loads(answer.choices[0].message.content)) == names

@check
def sessions_go_on(s):
    def post(path, **body):
        return s.client.post(path, body=body, cast_to=object)
    session = post("/sessions", model=s.model, prompt="One, two, three,")
    more = dict(model=s.model, max_tokens=6, temperature=0)
    first = s.client.completions.create(prompt="", extra_body={"session": session["id"]}, **more)
    assert first.choices[0].text == s.client.completions.create(prompt="One, two, three,", **more).choices[0].text
    other = post(f"/sessions/{session['id']}/fork")
    stream = s.client.completions.create(prompt=" and", stream=True, extra_body={"session": other["id"]}, **more)
    text = "".join(chunk.choices[0].text for chunk in stream if chunk.choices)
    whole = "One, two, three," + first.choices[0].text + " and"
    assert text == s.client.completions.create(prompt=whole, **more).choices[0].text
    for name in (session["id"], other["id"]):
        s.client.delete(f"/sessions/{name}", cast_to=object)
    refused(lambda: post(f"/sessions/{other['id']}/append", prompt="x"), openai.NotFoundError)

@check
def answers_are_objects(s):
    answer = s.chat(response_format={"type": "json_object"}, max_completion_tokens=400)
    assert answer.choices[0].finish_reason == "length" or isinstance(json.loads(answer.choices[0].message.content), dict)

@check
def a_second_turn_reads_what_is_new(s):
    messages = [{"role": "system", "content": "Be brief. " * 40}, {"role": "user", "content": "Hi"}]
    make = lambda: s.client.chat.completions.create(model=s.model, messages=messages, max_tokens=8)
    first = make()
    messages += [{"role": "assistant", "content": first.choices[0].message.content}, {"role": "user", "content": "And?"}]
    usage = make().usage
    assert usage.prompt_tokens_details.cached_tokens > usage.prompt_tokens // 2

@check
def bounds_are_named(s):
    error = refused(lambda: s.complete(n=1000), openai.BadRequestError, "1 to 128", "1000")
    assert error.param == "n" and error.type == "invalid_request_error"

@check
def a_suffix_is_refused(s):
    assert refused(lambda: s.complete(suffix="x"), openai.BadRequestError).param == "suffix"

@check
def what_is_too_long_is_refused(s):
    lengths = {model.id: model.model_extra["max_model_len"] for model in s.models}
    bounded = next((name for name, length in lengths.items() if length), None)
    if bounded is None:
        raise LeftOut("no model's texts have a longest length")
    call = lambda count: s.client.completions.create(model=bounded, prompt=[1] * count, max_tokens=1)
    assert refused(lambda: call(lengths[bounded] + 1), openai.BadRequestError).code == "context_length_exceeded"
    assert call(lengths[bounded] - 1).usage.completion_tokens == 1

@check
def unknown_fields_are_named(s):
    answer = s.complete(extra_body={"strange": 1})
    assert answer.model_extra["effc"]["ignored"] == ["strange"]

@check
def refusals_are_not_repeated(s):
    client = s.client.with_options(max_retries=3)
    began = time.monotonic()
    refused(lambda: client.completions.create(model=s.model, prompt="x", n=1000), openai.BadRequestError)
    assert time.monotonic() - began < 0.4  # openai waits half a second before it repeats

@check
def an_unknown_path_is_not_found(s):
    refused(lambda: s.client.responses.create(model=s.model, input="x"), openai.NotFoundError,
            "/v1/chat/completions")

@check
def embeddings_are_refused_with_a_reason(s):
    refused(lambda: s.client.embeddings.create(model=s.model, input="x"), openai.APIStatusError, "hidden")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base-url", required=True, help="http://127.0.0.1:PORT/v1")
    parser.add_argument("--only", default="", help="names with this word alone")
    arguments = parser.parse_args()
    server = Server(arguments.base_url)
    failed = left_out = 0
    chosen = [each for each in CHECKS if arguments.only in each.__name__]
    for each in chosen:
        try:
            each(server)
            print("ok    ", each.__name__.replace("_", " "))
        except LeftOut as reason:
            left_out += 1
            print("left out", each.__name__.replace("_", " ") + ":", reason)
        except Exception as error:  # a check that fails must not hide the others
            failed += 1
            print("FAILED", each.__name__.replace("_", " ") + ":", type(error).__name__, str(error)[:300])
    passed = len(chosen) - failed - left_out
    print(f"{passed} of {len(chosen)} checks passed, {left_out} were left out")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
