#!/usr/bin/env python3
"""A server for a test: starts `effc serve`, waits until it takes requests, and ends it in order.

    python3 served.py --effc EFFC --models m.effc --serve-options="--slots 8" --needs openai -- \\
        openai_client.py --base-url {url}/v1

runs a script of this folder against such a server. {url}, {port} and {pid} in its words are the server's. Without a
package that it needs nothing runs, and the exit status is 77, which ctest knows as skipped. Other scripts import it.
"""
import argparse
import concurrent.futures
import importlib.util
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

SKIPPED = 77
PATIENCE = 300  # seconds for the start, an answer, the end: builds with sanitizers are slow


class Served:
    """`effc serve` on the files, within a `with`."""

    def __init__(self, effc, files, *options):
        self.command = [effc, "serve", *map(str, files), "--port", "0", "--log", "none", *options]

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        port = pathlib.Path(self.folder.name, "port")
        self.process = subprocess.Popen([*self.command, "--port-file", str(port)])
        for _ in range(PATIENCE * 50):
            if self.process.poll() is not None:
                raise RuntimeError(f"effc serve has ended with status {self.process.returncode}")
            if port.exists() and (text := port.read_text().strip()):
                self.port, self.url = int(text), f"http://127.0.0.1:{text}"
                return self
            time.sleep(0.02)
        self.process.kill()
        raise RuntimeError(f"effc serve took no requests within {PATIENCE} s")

    def __exit__(self, kind, *_):
        self.process.terminate()
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.folder.cleanup()
        if kind is None and status != 0:
            raise RuntimeError(f"effc serve ended with status {status}")

    def ask(self, path, body=None):
        """The answer's JSON; an error's too."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            return json.load(urllib.request.urlopen(request, timeout=PATIENCE))
        except urllib.error.HTTPError as error:
            return json.loads(error.read())

    def ask_all(self, path, bodies, at_once=12):
        """The answers, in the order of `bodies`."""
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(lambda body: self.ask(path, body), bodies))


def skip_without(*packages):
    """Ends the test where one of the packages is not installed."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            print(f"skipped: {sys.executable} has no package '{package}'")
            sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--effc", required=True, help="the program effc")
    parser.add_argument("--models", nargs="+", required=True, help="compiled models")
    parser.add_argument("--serve-options", default="", help="of effc serve, as a shell would cut them")
    parser.add_argument("--needs", nargs="*", default=[], help="Python packages without which nothing runs")
    parser.add_argument("script", nargs="+", help="behind --: a script of this folder and its words")
    arguments = parser.parse_args()
    skip_without(*arguments.needs)
    with Served(arguments.effc, arguments.models, *shlex.split(arguments.serve_options)) as server:
        places = {"url": server.url, "port": server.port, "pid": server.process.pid}
        script, *words = (word.format(**places) for word in arguments.script)
        path = pathlib.Path(__file__).resolve().parent / script
        status = subprocess.run([sys.executable, "-B", str(path), *words]).returncode
    sys.exit(status)


if __name__ == "__main__":
    main()
