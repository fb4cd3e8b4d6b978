#!/usr/bin/env python3
"""Uses the server's page as a person does, in headless Chromium.

    effc serve m.effc --port 0 --port-file p &
    python test/e2e/serve/page_check.py --url http://127.0.0.1:$(cat p) --screenshot page.png

Needs Debian's chromium and chromium-driver, and the package selenium. The model has to have a chat
template. Nothing that the browser reports as an error is let pass, its policy's refusals included.
"""
import argparse
import json
import sys
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def wait(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come")


def answer_of(url, model, messages, tokens):
    body = {"model": model, "messages": messages, "temperature": 0, "max_completion_tokens": tokens}
    request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]


def shown(turn):
    """An answer on the page: what it says, and its reasoning, which is folded."""
    folded = turn.find_elements(By.CSS_SELECTOR, ".reasoning")
    assert not any(each.get_attribute("open") for each in folded)
    parts = {"content": turn.find_element(By.CSS_SELECTOR, ".turn > div").get_attribute("textContent")}
    if folded:
        parts["reasoning_content"] = folded[0].find_element(By.TAG_NAME, "div").get_attribute("textContent")
    return parts


def parts_of(message):
    return {key: message[key] or "" for key in ("content", "reasoning_content") if key in message}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="http://127.0.0.1:PORT")
    parser.add_argument("--screenshot", help="a PNG file of the page after the conversation")
    arguments = parser.parse_args()
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=420,800"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    try:
        browser.get(arguments.url + "/")
        at = lambda name: browser.find_element(By.ID, name)
        turns = lambda kind: browser.find_elements(By.CSS_SELECTOR, "." + kind)
        model = wait(lambda: at("model").text.strip(), "the list of models")
        browser.find_element(By.TAG_NAME, "summary").click()
        for name, value in (("temperature", "0"), ("max_completion_tokens", "24")):
            at(name).clear()
            at(name).send_keys(value)

        at("text").send_keys("Say <b>hello</b>.", Keys.ENTER)
        wait(lambda: len(turns("note")) == 1, "the end of the answer")
        messages = [{"role": "user", "content": "Say <b>hello</b>."}]
        expected = parts_of(answer_of(arguments.url, model, messages, 24))
        found = shown(turns("assistant")[0])
        assert found == expected, (found, expected)
        assert turns("user")[0].text == "Say <b>hello</b>.", "a text became markup"
        assert "tokens" in turns("note")[0].text

        at("text").send_keys("Again.", Keys.ENTER)
        wait(lambda: len(turns("note")) == 2, "the second answer")
        messages += [{"role": "assistant", **expected}, {"role": "user", "content": "Again."}]
        assert shown(turns("assistant")[1]) == parts_of(answer_of(arguments.url, model, messages, 24))

        at("max_completion_tokens").clear()
        at("max_completion_tokens").send_keys("1000")
        at("text").send_keys("Count to a thousand in words.", Keys.ENTER)
        wait(lambda: len(turns("assistant")) == 3 and turns("assistant")[2].text, "the third answer")
        assert at("send").text == "Stop"
        at("text").send_keys(Keys.ESCAPE)
        wait(lambda: len(turns("note")) == 3 and turns("note")[2].text == "stopped", "the stop")

        assert not browser.execute_script("return document.documentElement.scrollWidth > window.innerWidth"), \
            "a narrow screen scrolls sideways"
        if arguments.screenshot:
            browser.save_screenshot(arguments.screenshot)
        at("new").click()
        assert not turns("turn")
        problems = [entry for entry in browser.get_log("browser")
                    if entry["level"] in ("SEVERE", "WARNING") and "favicon" not in entry["message"]]
        assert not problems, problems
        print("the page holds a conversation, streams it, stops it, and shows texts as texts")
    finally:
        browser.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
