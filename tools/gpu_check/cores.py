"""How many processors the machine leaves this process.

The rule is the runtime's (runtime/src/system/ControlGroups.h): the affinity, and for the process's control group and all groups above
it, of version 1 or 2, as many as their quotas pay for in full; one at least.
"""
import os
import pathlib


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _quota(folder: pathlib.Path, second: bool) -> int | None:
    """Processors that one group pays for; None where it sets no limit."""
    names = ["cpu.max"] if second else ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
    words = " ".join(_text(folder / name) for name in names).split()
    if len(words) != 2 or not all(word.isdigit() and int(word) > 0 for word in words):
        return None
    return max(1, int(words[0]) // int(words[1]))


def _mounts(root: pathlib.Path) -> list[tuple[bool, list[str], str, str]]:
    """Trees of groups that can be seen: whether of version 2, controllers of version 1, the group that the folder is, the folder."""
    found = []
    for line in _text(root / "proc/self/mountinfo").splitlines():
        before, dash, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if dash and len(fields) >= 5 and len(kind) >= 3 and kind[0] in ("cgroup", "cgroup2"):
            found.append((kind[0] == "cgroup2", kind[2].split(","), fields[3], fields[4]))
    return found


def _group(root: pathlib.Path, second: bool) -> str | None:
    """The process's group in the tree of version 2, or in that of the controller cpu."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, controllers, group = (line.split(":", 2) + ["", ""])[:3]
        if group.startswith("/") and (number == "0" and not controllers if second else "cpu" in controllers.split(",")):
            return group
    return None


def quota_cores(root: pathlib.Path = pathlib.Path("/")) -> int | None:
    """What all groups leave; None where none sets a limit."""
    limits = []
    for second, controllers, top, point in _mounts(root):
        if not second and "cpu" not in controllers:
            continue
        group = _group(root, second)
        if group is None:
            continue
        below = "" if top == "/" else top
        place = group[len(below):] if group == below or group.startswith(below + "/") else ""
        parts = [] if "/.." in group else [part for part in place.split("/") if part]
        folder = root / point.lstrip("/")
        limits += [_quota(folder.joinpath(*parts[:count]), second) for count in range(len(parts) + 1)]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


def usable_cores() -> int:
    cores = len(os.sched_getaffinity(0))
    return min(cores, quota_cores() or cores)
