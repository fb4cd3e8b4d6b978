"""Kernel tests under NVIDIA's compute-sanitizer: what no comparison of numbers sees."""
import pathlib
import re
import shutil

from .console import Budget, last_line, run, say

# Tools, and how many kernel tests each is given: what checks races is the slowest.
TOOLS = {"memcheck": 60, "racecheck": 16, "synccheck": 30}


def chosen(folder: pathlib.Path, most: int) -> list[pathlib.Path]:
    """So many cases, evenly over all by name, which puts those of a kind beside each other."""
    cases = sorted(path.parent for path in folder.glob("*/case.json"))
    return cases[::max(1, len(cases) // most)][:most]


def errors_of(text: str) -> list[str]:
    """The first line of each report, without addresses that differ from run to run."""
    lines = [re.sub(r"^=+ *", "", line).strip() for line in text.splitlines() if re.match(r"=+ *\S", line)]
    return [line for line in lines if re.match(r"(Invalid|Error|Warning|Uninitialized|Barrier|Program hit|Race)", line)]


def check(program: pathlib.Path, folder: pathlib.Path, budget: Budget) -> dict:
    """What each tool said."""
    sanitizer = shutil.which("compute-sanitizer")
    if not sanitizer:
        return {tool: {"left_out": "it is not there"} for tool in TOOLS}
    found = {}
    for tool, most in TOOLS.items():
        cases = chosen(folder, most)
        if budget.left() < 10:
            found[tool] = {"left_out": "the time is over"}
            continue
        done = run([sanitizer, "--tool", tool, "--error-exitcode", "9", "--print-limit", "20", program, "cases", "--device", "cuda", *cases],
                   may_fail=True, timeout=budget.share(0.5, 90))
        said = errors_of(done.stdout + done.stderr)
        begun = done.stdout.count('"begins"')
        found[tool] = {"cases": len(cases), "begun": begun, "status": done.returncode, "errors": said,
                       **({"stopped": last_line(done.stderr)} if done.returncode not in (0, 1, 9) else {})}
        say(f"{tool}: {begun} of {len(cases)} kernel tests, {len(said)} errors{', status ' + str(done.returncode) if done.returncode else ''}")
    return found
