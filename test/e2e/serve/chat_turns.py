#!/usr/bin/env python3
"""A chat of 20 turns through the server's cache: each turn feeds what is new alone, after a restart too.

    python3 chat_turns.py --effc EFFC --model m.effc --template chat.jinja

A turn sends the whole conversation. Of its P tokens those of the last turn are known: that turn's prompt and its
answer, but for the answer's last token, which was drawn and never fed. So where the last turn had p tokens and an
answer of a, p + a - 1 come from the cache. The text of an answer is cut into tokens anew. Where that gives others than
were drawn, the last prompt alone is known, and its end is a place: p - 1 tokens at least. After half of the turns
another process goes on from the files of the first. A server without a cache has to give the same log-probabilities.
"""
import argparse
import sys
import tempfile

from served import Served

TURNS = 20


def asked(messages):
    return {"messages": messages, "max_tokens": 24, "temperature": 0, "ignore_eos": True, "logprobs": True,
            "top_logprobs": 2, "return_tokens_as_token_ids": True}


def tokens_of(answer):
    """The drawn tokens, each told as "token_id:N"."""
    return [int(entry["token"].removeprefix("token_id:")) for entry in answer["choices"][0]["logprobs"]["content"]]


class Chat:
    def __init__(self):
        self.messages = [{"role": "system", "content": "In the beginning God created the heaven and the earth. " * 8}]
        self.fed = []  # tokens of which the last turn has left states
        self.requests, self.answers, self.wrong = [], [], []
        self.exact = 0

    def turn(self, server, number):
        self.messages.append({"role": "user", "content": f"And it came to pass, number {number}, that they went."})
        prompt = server.ask("/apply-template", {"messages": self.messages})["tokens"]
        self.requests.append(asked(list(self.messages)))
        answer = server.ask("/v1/chat/completions", self.requests[-1])
        if "usage" not in answer:
            sys.exit(f"turn {number}: {answer}")
        cached = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
        if answer["usage"]["prompt_tokens"] != len(prompt):
            self.wrong.append(f"turn {number}: {answer['usage']} of a prompt of {len(prompt)} tokens")
        if prompt[:len(self.fed)] == self.fed:
            self.exact += 1
            if cached != len(self.fed):
                self.wrong.append(f"turn {number}: {cached} tokens from the cache, {len(self.fed)} expected")
        elif cached < self.last - 1:
            self.wrong.append(f"turn {number}: {cached} tokens from the cache, {self.last - 1} expected at least")
        self.last = len(prompt)
        self.fed = prompt + tokens_of(answer)[:-1]
        self.answers.append(answer["choices"])
        self.messages.append({"role": "assistant", "content": answer["choices"][0]["message"]["content"]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effc", required=True, help="the program effc")
    parser.add_argument("--model", required=True, help="a compiled model with a tokenizer")
    parser.add_argument("--template", required=True, help="a template of conversations, which marks who speaks")
    arguments = parser.parse_args()
    serve = lambda *options: Served(arguments.effc, [arguments.model], "--chat-template", arguments.template, *options)
    chat = Chat()
    with tempfile.TemporaryDirectory() as folder:
        for first in (0, TURNS // 2):
            with serve("--cache-ram", "64M", "--cache-dir", folder) as server:
                for number in range(first, first + TURNS // 2):
                    chat.turn(server, number)
    if chat.exact < TURNS * 3 // 4:
        chat.wrong.append(f"{chat.exact} of {TURNS} turns go on from the tokens that were drawn: the test says little")
    with serve("--cache-ram", "0") as server:
        for number, answer in enumerate(server.ask_all("/v1/chat/completions", chat.requests)):
            if answer.get("choices") != chat.answers[number]:
                chat.wrong.append(f"turn {number}: another answer without a cache: {answer}")
            elif answer["usage"]["prompt_tokens_details"]["cached_tokens"]:
                chat.wrong.append(f"turn {number}: the server without a cache has one")
    print("\n".join(chat.wrong) or f"{TURNS} turns, {chat.exact} of them from all that was known; {chat.last} tokens")
    return 1 if chat.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
