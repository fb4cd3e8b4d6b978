#!/usr/bin/env python3
"""Many clients of `effc serve` at once, of which few behave: what is whole is answered, and nothing else harms.

    effc serve m.effc --port 0 --port-file p --slots 16 --session-ttl 20 --cache-ram 16M --session-ram 16M & PID=$!
    python test/e2e/serve/storm.py --port $(cat p) --pid $PID --clients 200 --seconds 120

Each client does one thing after another, drawn at random: whole and streamed completions, sessions, streams that it
leaves, streams that it reads a few bytes at a time, and requests that are none. Caches and sessions have to be full
within the first third of the time, or their growth is taken for a leak: hence the two budgets. Ends with status 1 where
an answer is not what its request deserves, equal requests differ, the server does not answer /health in 5 s, or its
memory grows by more than 2 % and 4 MiB between the first third and the end. Prints JSON. Needs no package.
"""

import argparse
import asyncio
import collections
import json
import os
import random
import sys
import time

PATIENCE = 120  # seconds for any answer
PROMPTS = [[10 + i, 20 + i, 30 + i] * (1 + 5 * i) for i in range(8)]


def resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def post(path, body, headers=""):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}"
            f"Content-Length: {len(text)}\r\n\r\n").encode() + text


class Connection:
    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    def __init__(self, port):
        self.port = port

    async def __aexit__(self, *_):
        self.writer.transport.abort()

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def head(self):
        data = await self.reader.readuntil(b"\r\n\r\n")
        lines = data.decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:] if ":" in line)}
        return int(lines[0].split()[1]), headers

    async def answer(self):
        """Status and body of an answer in one piece, or of a stream."""
        status, headers = await self.head()
        if "content-length" in headers:
            return status, await self.reader.readexactly(int(headers["content-length"]))
        body = b""
        while True:
            size = int((await self.reader.readline()).split(b";")[0], 16)
            body += await self.reader.readexactly(size)
            await self.reader.readline()
            if size == 0:
                return status, body


class Storm:
    def __init__(self, port, seed):
        self.port = port
        self.random = random.Random(seed)
        self.texts = {}  # of each prompt
        self.did = collections.Counter()
        self.statuses = collections.Counter()
        self.wrong = []

    def expect(self, what, status, among, body=b""):
        self.statuses[status] += 1
        if status not in among:
            self.wrong.append(f"{what}: {status} {body[:200]!r}")

    def same(self, prompt, text):
        """Equal requests have equal texts, whatever else goes on."""
        known = self.texts.setdefault(prompt, text)
        if known != text:
            self.wrong.append(f"prompt {prompt}: {text!r} after {known!r}")

    def completion(self, index, **more):
        return {"prompt": PROMPTS[index], "max_tokens": 24, "temperature": 0, "ignore_eos": True, **more}

    # What behaves. 429: the queue is full, which is an answer.

    async def whole(self, c):
        index = self.random.randrange(len(PROMPTS))
        await c.send(post("/v1/completions", self.completion(index)))
        status, body = await c.answer()
        self.expect("whole", status, (200, 429), body)
        if status == 200:
            self.same(index, json.loads(body)["choices"][0]["text"])

    async def stream(self, c):
        index = self.random.randrange(len(PROMPTS))
        await c.send(post("/v1/completions", self.completion(index, stream=True)))
        status, body = await c.answer()
        self.expect("stream", status, (200, 429), body)
        if status != 200:
            return
        events = [line[6:] for line in body.decode().split("\n\n") if line.startswith("data: ")]
        if events[-1] != "[DONE]":
            self.wrong.append(f"a stream ends with {events[-1]!r}")
        else:
            self.same(index, "".join(json.loads(e)["choices"][0]["text"] for e in events[:-1] if json.loads(e)["choices"]))

    async def session(self, c):
        index = self.random.randrange(len(PROMPTS))
        await c.send(post("/v1/sessions", {"prompt": PROMPTS[index]}))
        status, body = await c.answer()
        self.expect("session", status, (201, 413, 429), body)
        if status != 201:
            return
        name = json.loads(body)["id"]
        await c.send(post("/v1/completions", self.completion(index, session=name, prompt="")))
        status, body = await c.answer()
        self.expect("within a session", status, (200, 429), body)
        if status == 200:
            self.same(index, json.loads(body)["choices"][0]["text"])
        if self.random.random() < 0.7:  # others are left to their time
            await c.send(f"DELETE /v1/sessions/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            status, body = await c.answer()
            self.expect("delete", status, (200,), body)

    # What leaves, or takes its time.

    async def leave(self, c):
        await c.send(post("/v1/completions", self.completion(0, stream=True, max_tokens=400)))
        await asyncio.wait_for(c.reader.read(self.random.randrange(1, 2000)), PATIENCE)

    async def leave_at_once(self, c):
        await c.send(post("/v1/completions", self.completion(1, max_tokens=400)))

    async def leave_a_session(self, c):
        await c.send(post("/v1/sessions", {"prompt": PROMPTS[2] * 20}))

    async def read_slowly(self, c):
        await c.send(post("/v1/completions", self.completion(3, stream=True, max_tokens=200, logprobs=20)))
        for _ in range(20):
            await c.reader.read(self.random.randrange(1, 40))
            await asyncio.sleep(0.1)

    # What is no request.

    async def cut_body(self, c):
        data = post("/v1/completions", self.completion(4))
        await c.send(data[:self.random.randrange(1, len(data))])
        if self.random.random() < 0.5:
            await asyncio.sleep(self.random.random())

    async def no_json(self, c):
        whole = json.dumps(self.completion(5)).encode()
        at = self.random.randrange(len(whole))
        bodies = [whole[:at], whole[:at] + bytes([self.random.randrange(256)]) + whole[at + 1:], b"[" * 10000,
                  b'{"prompt": [1], "temperature": NaN}', b'{"prompt": [1], "max_tokens": 1e308}', b'{"a":' * 70 + b"1" + b"}" * 70,
                  b'{"prompt": [1], "stop": [' + b'"x",' * 1000 + b'"x"]}',
                  json.dumps({f"k{i}": 1 for i in range(3000)}).encode(), b"\xff\xfe\x00"]
        await c.send(post(self.random.choice(["/v1/completions", "/v1/sessions", "/v1/chat/completions", "/tokenize"]),
                          self.random.choice(bodies)))
        status, body = await c.answer()
        self.expect("no JSON", status, (200, 201, 400, 413, 429), body)  # one byte may be another token

    async def wrong_head(self, c):
        heads = [b"GET /\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"POST /v1/completions HTTP/1.1\r\nHost: a\r\n\r\n",
                 b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
                 b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                 b"GET /" + b"x" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"a%d: b\r\n" % i for i in range(3000)) + b"\r\n",
                 b"BREW /v1/sessions/x HTTP/1.1\r\nHost: localhost\r\n\r\n"]
        await c.send(self.random.choice(heads))
        data = await c.reader.read(65536)
        if data and not data.startswith(b"HTTP/1.1 4"):
            self.wrong.append(f"a wrong head: {data[:100]!r}")

    async def client(self, end):
        kinds = [(self.whole, 4), (self.stream, 4), (self.session, 3), (self.leave, 2), (self.leave_at_once, 1),
                 (self.leave_a_session, 1), (self.read_slowly, 1), (self.cut_body, 2), (self.no_json, 3), (self.wrong_head, 2)]
        while time.monotonic() < end:
            kind = self.random.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
            self.did[kind.__name__] += 1
            try:
                async with Connection(self.port) as c:
                    await asyncio.wait_for(kind(c), PATIENCE)
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                if kind in (self.whole, self.stream, self.session, self.no_json):
                    self.wrong.append(f"{kind.__name__}: {error!r}")
            except asyncio.TimeoutError:
                self.wrong.append(f"{kind.__name__}: no answer in {PATIENCE} s")

    async def health(self, end):
        slowest = 0
        while time.monotonic() < end:
            began = time.monotonic()
            try:
                async with Connection(self.port) as c:
                    await c.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    status, _ = await asyncio.wait_for(c.answer(), 5)
                    self.expect("health", status, (200,))
            except (ConnectionError, asyncio.TimeoutError, asyncio.IncompleteReadError) as error:
                self.wrong.append(f"health: {error!r}")
            slowest = max(slowest, time.monotonic() - began)
            await asyncio.sleep(0.5)
        return slowest


async def watch(pid, end, seconds):
    """The most memory in the first third, and in the last; 0 where nothing is watched."""
    early = late = 0
    if pid is None:
        return early, late
    while (left := end - time.monotonic()) > 0:
        if left > seconds * 2 / 3:
            early = max(early, resident(pid))
        elif left < seconds / 3:
            late = max(late, resident(pid))
        await asyncio.sleep(0.5)
    return early, late


async def run(arguments):
    storm = Storm(arguments.port, arguments.seed)
    end = time.monotonic() + arguments.seconds
    results = await asyncio.gather(storm.health(end), watch(arguments.pid, end, arguments.seconds),
                                   *(storm.client(end) for _ in range(arguments.clients)))
    slowest, (early, late) = results[:2]
    if late > early * 1.02 + (4 << 20):
        storm.wrong.append(f"memory: {early} bytes in the first third, {late} in the last")
    print(json.dumps({"seconds": arguments.seconds, "clients": arguments.clients, "did": dict(storm.did.most_common()),
                      "statuses": {str(k): v for k, v in sorted(storm.statuses.items())}, "slowest_health_s": round(slowest, 3),
                      "resident_mib": [round(early / 2**20, 1), round(late / 2**20, 1)], "wrong": storm.wrong[:20],
                      "wrong_count": len(storm.wrong)}, indent=1))
    return 1 if storm.wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True, help="of the server, on this machine")
    parser.add_argument("--pid", type=int, help="of the process effc-serve, whose memory is watched; else none is")
    parser.add_argument("--clients", type=int, default=200, help="at once")
    parser.add_argument("--seconds", type=float, default=120, help="how long they go on")
    parser.add_argument("--seed", type=int, default=1, help="of what they do")
    sys.exit(asyncio.run(run(parser.parse_args())))


if __name__ == "__main__":
    main()
