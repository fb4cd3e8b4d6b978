"""Copies what building the runtime takes, headers of other projects included, so that a machine without any of them can."""
import pathlib
import re
import shutil

from .console import Failure, run, say

SOURCES = [
    "CMakeLists.txt", "runtime", "tools/CMakeLists.txt", "tools/WriteCommit.cmake", "tools/effc",
    "tools/terminal",
]
# Other projects' headers that the sources reach, and what choosing among compilers needs besides.
FOREIGN = re.compile(r"/(flatbuffers|CLI|nlohmann|boost)/|/xxhash\.h$")
WHOLE = ["boost/config", "boost/predef"]
OBJECTS = ("runtime/", "tools/effc/", "tools/terminal/")


def include_root(header: pathlib.Path) -> pathlib.Path:
    """The folder that `header` is included from."""
    for name in ("flatbuffers", "CLI", "nlohmann", "boost"):
        if name in header.parts:
            return pathlib.Path(*header.parts[:header.parts.index(name)])
    return header.parent


def foreign_headers(build: pathlib.Path) -> dict[pathlib.Path, pathlib.Path]:
    """Headers of other projects that objects of the runtime were compiled with: path -> path below an include folder."""
    text = run(["ninja", "-C", build, "-t", "deps"]).stdout
    found: dict[pathlib.Path, pathlib.Path] = {}
    wanted = False
    for line in text.splitlines():
        if not line.startswith(" "):
            wanted = line.startswith(OBJECTS)
        elif wanted and FOREIGN.search(line) and line.strip().startswith("/"):
            header = pathlib.Path(line.strip())
            found[header] = header.relative_to(include_root(header))
    if not found:
        raise Failure(f"{build} knows no headers of the runtime's objects: build `effc` and `effc-device-check` there first")
    roots = {include_root(header) for header in found if "boost" in header.parts}
    for root in roots:
        for folder in WHOLE:
            for header in (root / folder).rglob("*.hpp"):
                found[header] = header.relative_to(root)
    return found


def cache_entry(build: pathlib.Path, name: str) -> str:
    """What CMake has cached under a name; empty: nothing."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            value = line.partition("=")[2]
            return "" if value.endswith("-NOTFOUND") else value
    return ""


def gather_runtime(source: pathlib.Path, build: pathlib.Path, target: pathlib.Path) -> None:
    """Makes `target` a tree that CMake builds the runtime from, with a compiler and nothing else."""
    for name in SOURCES:
        place = target / "source" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_dir():
            shutil.copytree(source / name, place, dirs_exist_ok=True)
        else:
            shutil.copy2(source / name, place)
    headers = foreign_headers(build)
    for header, below in headers.items():
        place = target / "third_party/include" / below
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(header, place)
    for name in ("program", "tokenizer"):
        place = target / f"generated/runtime/schema/{name}_generated.h"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / f"runtime/schema/{name}_generated.h", place)
    if archive := cache_entry(build, "EFFC_BOOST_CONTEXT_ARCHIVE"):
        shutil.copy2(archive, target / "third_party")
    shutil.copytree(pathlib.Path(__file__).parent / "cmake", target / "cmake", dirs_exist_ok=True)
    say(f"gathered the runtime and {len(headers)} headers of other projects")


def configure_options(data: pathlib.Path) -> list[str]:
    """How CMake is told where what was gathered lies."""
    include = data / "third_party/include"
    archive = data / "third_party/libboost_context.a"
    options = [f"-DCMAKE_CXX_FLAGS=-isystem {include}", f"-DCMAKE_C_FLAGS=-isystem {include}", "-DCMAKE_BUILD_TYPE=Release",
               "-DEFFC_BUILD_COMPILER=OFF", "-DEFFC_BUILD_SERVER=OFF", "-DEFFC_BUILD_TESTS=OFF",
               f"-DCMAKE_MODULE_PATH={data / 'cmake'}",
               f"-DEFFC_GENERATED_HEADERS={data / 'generated'}", f"-DEFFC_XXHASH_INCLUDE={include}"]
    if archive.exists():
        options += [f"-DEFFC_BOOST_CONTEXT_INCLUDE={include}", f"-DEFFC_BOOST_CONTEXT_ARCHIVE={archive}"]
    return options


def build_runtime(data: pathlib.Path, build: pathlib.Path, jobs: int) -> pathlib.Path:
    """Builds `effc` and `effc-device-check` from what was gathered; returns the folder of programs."""
    configure = ["cmake", "-S", data / "source", "-B", build, *configure_options(data)]
    if shutil.which("ninja") and not (build / "CMakeCache.txt").exists():
        configure += ["-G", "Ninja"]
    run(configure, timeout=120)
    run(["cmake", "--build", build, "-j", jobs, "--target", "effc", "effc-device-check"], timeout=420)
    return build / "bin"
