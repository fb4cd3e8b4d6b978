"""Renders conversations as transformers 5.24 does (apply_chat_template with tokenize=False), on a fixed day.

Needs the packages of requirements.txt: transformers and jinja2.
"""
import contextlib
import datetime

import jinja2
import transformers.utils.chat_template_utils as library

DATE = "2026-03-09T14:05:07"


class FixedDay(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromisoformat(DATE)


library.datetime = FixedDay


class Refused(Exception):
    """The template or the library refuses the conversation."""


def render(template, conversation, tokens):
    """The prompt; raises Refused with the reason of the library."""
    arguments = {**tokens, **conversation.get("arguments", {})}
    try:
        # What PreTrainedTokenizerBase.apply_chat_template() does before it renders.
        if conversation.get("continued") and conversation.get("add_generation_prompt"):
            raise ValueError("continue_final_message and add_generation_prompt are not compatible")
        messages = library._normalize_chat_messages(conversation["messages"])
        rendered, _ = library.render_jinja_template(
            [messages], tools=conversation.get("tools"), documents=conversation.get("documents"),
            chat_template=template, continue_final_message=conversation.get("continued", False),
            add_generation_prompt=conversation.get("add_generation_prompt", False), **arguments)
        rendered[0].encode()  # a lone half of a pair is no text
        return rendered[0]
    except Exception as error:  # any of jinja2's and Python's
        raise Refused(f"{type(error).__name__}: {error}") from error
