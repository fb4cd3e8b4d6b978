#!/usr/bin/env python3
"""Writes the tasks of this folder: 200 questions with choices, 50 texts to go on.

    python tasks/make_tasks.py

All of it follows from the lists below, so that nothing is fetched when lm-eval runs.
"""
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
OPPOSITES = [("hot", "cold"), ("big", "small"), ("day", "night"), ("up", "down"), ("open", "closed"),
             ("fast", "slow"), ("early", "late"), ("wet", "dry"), ("full", "empty"), ("hard", "soft"),
             ("high", "low"), ("rich", "poor"), ("old", "young"), ("light", "dark"), ("left", "right"),
             ("sweet", "bitter"), ("strong", "weak"), ("love", "hate"), ("war", "peace"), ("life", "death")]
CAPITALS = [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Japan", "Tokyo"), ("Egypt", "Cairo"),
            ("Greece", "Athens"), ("Russia", "Moscow"), ("Germany", "Berlin"), ("Austria", "Vienna"),
            ("Cuba", "Havana")]


def questions():
    """Each with four choices, of which the one at `answer` is right."""
    for pairs, form in ((OPPOSITES, "The opposite of {} is"), (CAPITALS, "The capital of {} is")):
        for shift in range(1, 6):
            for i, (left, right) in enumerate(pairs):
                others = [pairs[(i + shift + k) % len(pairs)][1] for k in range(3)]
                answer = (i + shift) % 4
                yield {"context": form.format(left), "choices": others[:answer] + [right] + others[answer:],
                       "answer": answer}
    for first in range(1, 51):
        numbers = [first, first + 1, first + 2]
        answer = first % 4
        wrong = [first + 7, first + 1, first + 30]
        choices = [str(n) for n in wrong]
        choices.insert(answer, str(first + 3))
        yield {"context": "Count: " + ", ".join(map(str, numbers)) + ",", "choices": choices, "answer": answer}


def texts():
    for i in range(50):
        left, right = OPPOSITES[i % len(OPPOSITES)]
        country, capital = CAPITALS[i % len(CAPITALS)]
        yield {"context": f"Q: What is the capital of {country}?\nA: {capital}\nQ: What is the opposite of {left}?\nA:",
               "target": right}


def write(name, rows):
    rows = list(rows)
    (FOLDER / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    print(name, len(rows))


if __name__ == "__main__":
    write("choices.jsonl", questions())
    write("texts.jsonl", texts())
