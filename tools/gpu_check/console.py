"""Progress on standard error, programs, and failures that end the script."""
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib

START = time.monotonic()


class Failure(Exception):
    """Ends the script with status 1 and one line."""


def say(text: str) -> None:
    """One line of progress, with the seconds since the start."""
    print(f"[{time.monotonic() - START:6.1f} s] {text}", file=sys.stderr, flush=True)


def run(command: list, *, timeout: float | None = None, env: dict | None = None, cwd: pathlib.Path | None = None,
        may_fail: bool = False) -> subprocess.CompletedProcess:
    """Runs a program; its output is text. Fails with the end of what it says."""
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=env, cwd=cwd, errors="replace")
    except subprocess.TimeoutExpired as late:
        # Bytes, whatever was asked for.
        said = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
        done = subprocess.CompletedProcess(command, 124, said, f"took more than {timeout:.0f} s")
    except OSError as error:
        done = subprocess.CompletedProcess(command, 127, "", str(error))
    if done.returncode != 0 and not may_fail:
        raise Failure(f"{' '.join(command[:6])} ...: status {done.returncode}: {last_line(done.stderr or done.stdout)}")
    return done


class Lines:
    """The lines of a program, as it prints them."""

    def __init__(self, command: list, env: dict | None = None):
        self.errors = tempfile.TemporaryFile(mode="w+", errors="replace")
        try:
            self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                            env=env, errors="replace")
        except OSError as error:
            raise Failure(str(error)) from error
        self.came: queue.Queue = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.came.put(line)
        self.came.put(None)

    def next(self, seconds: float) -> str | None:
        """The next line; None at the end. TimeoutError where none has come after so many seconds."""
        try:
            return self.came.get(timeout=max(0.0, seconds))
        except queue.Empty:
            raise TimeoutError from None

    def end(self, *, kill: bool) -> tuple[int | None, str]:
        """The status, None if not even killing ends it, and the last line of standard error."""
        if kill:
            self.process.kill()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            pass  # a driver may hold it for long
        self.errors.seek(0)
        return self.process.returncode, last_line(self.errors.read())


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def folder_bytes(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def packed_bytes(folder: pathlib.Path) -> int:
    """What a folder takes when it is packed by itself, and not well."""
    return sum(len(zlib.compress(path.read_bytes(), 1)) for path in folder.rglob("*") if path.is_file())


def leave_out(folders: list[pathlib.Path], most: int, size_of=folder_bytes) -> list[str]:
    """Removes folders from the end of the list until the others have at most so many bytes; the names of those removed."""
    names, sizes = [], [size_of(folder) for folder in folders]
    total = sum(sizes)
    while total > most and folders:
        last = folders.pop()
        total -= sizes.pop()
        shutil.rmtree(last)
        names.append(last.name)
    return sorted(names)


class Budget:
    """Seconds that are left of the whole, so that what is less important gives way."""

    def __init__(self, seconds: float):
        self.end = START + seconds

    @classmethod
    def of(cls, seconds: float) -> "Budget":
        """From now on."""
        made = cls(0)
        made.end = time.monotonic() + seconds
        return made

    def left(self) -> float:
        return self.end - time.monotonic()

    def share(self, part: float, most: float) -> float:
        """At most `most` seconds and that part of what is left."""
        return max(0.0, min(most, part * self.left()))
