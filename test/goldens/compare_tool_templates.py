#!/usr/bin/env python3
"""Finds how public chat templates write calls of tools, and takes apart what they make of answers with calls.

    compare_tool_templates.py --library build/release/runtime/libeffc.so FOLDER_OR_FILE...

Each template renders a conversation whose last message has content and calls that are known; the parser that was made
for the template has to give back names and arguments. The source distribution of llama-cpp-python has 70 templates in
vendor/llama.cpp/models/templates. Nothing of them is kept here.
"""
import argparse
import ctypes
import json
import pathlib
import sys

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "The weather of a place.", "parameters": {
        "type": "object", "required": ["place"], "properties": {
            "place": {"type": "string", "description": "Where."}, "days": {"type": "integer", "description": "How long."},
            "exact": {"type": "boolean", "description": "How well."}}}}}]
CALLS = [{"place": "Oslo, \"old\" town", "days": 3, "exact": True}, {"place": "12"}]
KINDS = {1: "content", 2: "reasoning", 3: "call", 4: "arguments"}


class Conversation(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [
        field for name in ("messages", "tools", "documents", "arguments")
        for field in ((name, ctypes.c_char_p), (name + "_size", ctypes.c_size_t))] + [
        ("date", ctypes.c_char_p), ("continued", ctypes.c_char_p), ("add_generation_prompt", ctypes.c_bool)]


class ParserOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("tools", ctypes.c_bool), ("reasoning", ctypes.c_bool),
                ("prompt", ctypes.c_char_p), ("prompt_size", ctypes.c_size_t),
                ("definitions", ctypes.c_char_p), ("definitions_size", ctypes.c_size_t)]


class Part(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kind", ctypes.c_int), ("call", ctypes.c_uint32),
                ("text", ctypes.POINTER(ctypes.c_char)), ("text_size", ctypes.c_size_t), ("id", ctypes.c_char_p)]


class Refused(Exception):
    pass


class Library:
    def __init__(self, path):
        self.api = ctypes.CDLL(path)
        self.api.effc_status_message.restype = ctypes.c_char_p
        self.api.effc_chat_text_bytes.restype = ctypes.POINTER(ctypes.c_char)
        for name in ("effc_chat_create_from_source", "effc_chat_render", "effc_chat_tool_format", "effc_chat_parser_create",
                     "effc_chat_parser_push", "effc_chat_parser_finish", "effc_chat_parser_next"):
            getattr(self.api, name).restype = ctypes.c_void_p

    def check(self, status):
        if status:
            message = self.api.effc_status_message(ctypes.c_void_p(status)).decode()
            self.api.effc_status_free(ctypes.c_void_p(status))
            raise Refused(message)

    def chat(self, source):
        chat = ctypes.c_void_p()
        self.check(self.api.effc_chat_create_from_source(source, ctypes.c_size_t(len(source)), None, ctypes.byref(chat)))
        return chat

    def render(self, chat, messages, prompt):
        texts = [json.dumps(value).encode() for value in (messages, TOOLS, None, TOKENS)]
        conversation = Conversation()
        conversation.size = ctypes.sizeof(Conversation)
        for name, text in zip(("messages", "tools", "documents", "arguments"), texts):
            if text != b"null":
                setattr(conversation, name, text)
                setattr(conversation, name + "_size", len(text))
        conversation.date = b"2026-03-09"
        conversation.add_generation_prompt = prompt
        text, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.check(self.api.effc_chat_render(chat, ctypes.byref(conversation), ctypes.byref(text)))
        made = ctypes.string_at(self.api.effc_chat_text_bytes(text, ctypes.byref(size)), size.value).decode()
        self.api.effc_chat_text_free(text)
        return made

    def form(self, chat):
        name = ctypes.c_char_p()
        self.check(self.api.effc_chat_tool_format(chat, ctypes.byref(name)))
        return name.value.decode()

    def parts(self, chat, answer, prompt):
        options = ParserOptions()
        options.size, options.tools, options.reasoning = ctypes.sizeof(options), True, True
        options.prompt, options.prompt_size = prompt.encode(), len(prompt.encode())
        definitions = json.dumps(TOOLS).encode()
        options.definitions, options.definitions_size = definitions, len(definitions)
        parser = ctypes.c_void_p()
        self.check(self.api.effc_chat_parser_create(chat, ctypes.byref(options), ctypes.byref(parser)))
        text = answer.encode()
        self.check(self.api.effc_chat_parser_push(parser, text, ctypes.c_size_t(len(text))))
        self.check(self.api.effc_chat_parser_finish(parser))
        found = []
        while True:
            part = Part()
            part.size = ctypes.sizeof(part)
            self.check(self.api.effc_chat_parser_next(parser, ctypes.byref(part)))
            if part.kind == 0:
                break
            found.append((KINDS[part.kind], ctypes.string_at(part.text, part.text_size).decode()))
        self.api.effc_chat_parser_free(parser)
        return found


def common(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def answer_of(library, chat, message):
    """The prompt, and what the message adds behind it, without what ends a turn."""
    user = {"role": "user", "content": "How is it?"}
    prompt = library.render(chat, [user], True)
    whole = library.render(chat, [user, message], False)
    try:
        plain = library.render(chat, [user, {"role": "assistant", "content": "probe"}], False)
        ending = plain[plain.rindex("probe") + 5:]
    except (Refused, ValueError):
        ending = ""
    start = len(prompt) if whole.startswith(prompt) else common(prompt, whole)
    same = common(whole[::-1], ending[::-1])
    # Not within a mark.
    opened = max(whole.rfind("<", 0, start), whole.rfind("[", 0, start))
    if opened >= 0 and not any(end in whole[opened:start] for end in ">]"):
        start = opened
    return whole[:start], whole[start:len(whole) - same]


def judge(library, chat):
    """Why an answer with calls is not taken apart as it should be; None where it is."""
    for count in (2, 1):
        calls = [{"id": f"call0000{i}", "type": "function", "function": {"name": "get_weather", "arguments": CALLS[i]}}
                 for i in range(count)]
        try:
            prompt, answer = answer_of(library, chat, {"role": "assistant", "content": "", "tool_calls": calls})
            break
        except Refused as refused:
            problem = str(refused)
    else:
        return problem
    count = min(count, answer.count("get_weather"))  # some write the first alone
    parts = library.parts(chat, answer, prompt)
    names = [text for kind, text in parts if kind == "call"]
    arguments = [text for kind, text in parts if kind == "arguments"]
    try:
        same = [json.loads(text) for text in arguments] == CALLS[:count]
    except ValueError:
        same = False
    if names != ["get_weather"] * count or not same:
        return f"{answer!r} gives {parts}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    library = Library(arguments.library)
    files = [file for path in arguments.paths for file in (sorted(path.glob("*.jinja")) if path.is_dir() else [path])]
    counts, wrong = {}, 0
    for file in files:
        chat = library.chat(file.read_bytes())
        try:
            form = library.form(chat)
        except Refused as refused:
            counts["none"] = counts.get("none", 0) + 1
            print(f"{file.stem}: {str(refused)[:200]}")
            continue
        counts[form] = counts.get(form, 0) + 1
        problem = judge(library, chat)
        wrong += problem is not None
        print(f"{file.stem}: {form}" + (f"\n  wrong: {problem[:700]}" if problem else ""))
    print(f"{len(files)} templates: {counts}; {wrong} taken apart wrongly")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
