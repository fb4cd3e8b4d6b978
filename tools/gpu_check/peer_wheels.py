"""Public kernels as wheels of pure Python, to be taken to a machine with a GPU and no network.

  python3 -m gpu_check.peer_wheels DIR

Fetches flash-linear-attention's kernels (fla-core) and einops as they are published. Of mamba-ssm it takes the Triton files alone, as a wheel of
the same name and version: the package itself imports an extension that has to be compiled against the machine's torch.
"""
import base64
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile

from .console import Failure, run, say

AS_THEY_ARE = ["fla-core", "einops"]
# Packages of mamba-ssm that hold Triton kernels and what these import.
KEPT = re.compile(r"mamba_ssm/(ops/triton|utils)/[^/]+\.py$")
JSON_INDEX = "application/vnd.pypi.simple.v1+json"


def index_url() -> str:
    """Where pip looks for packages on this machine."""
    asked = run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], may_fail=True)
    configured = os.environ.get("PIP_INDEX_URL") or (asked.stdout.strip() if asked.returncode == 0 else "")
    if configured:
        return configured.rstrip("/")
    from pip._internal.models.index import PyPI  # pip's own default, which it has no command to tell
    return PyPI.simple_url.rstrip("/")


def newest_source(name: str) -> tuple[str, bytes]:
    """Version and archive of the newest source distribution."""
    address = f"{index_url()}/{name}/"
    request = urllib.request.Request(address, headers={"Accept": f"{JSON_INDEX}, text/html;q=0.1"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        text, kind = answer.read().decode(), answer.headers.get_content_type()
    if kind == JSON_INDEX:
        files = [(one["filename"], one["url"]) for one in json.loads(text)["files"]]
    else:
        files = [(shown, link) for link, shown in re.findall(r'<a [^>]*href="([^"#]+)[^"]*"[^>]*>([^<]+)</a>', text)]
    archives = {re.sub(r"^.*?-([0-9][0-9.]*)\.tar\.gz$", r"\1", file): link for file, link in files
                if re.search(r"-[0-9][0-9.]*\.tar\.gz$", file)}
    if not archives:
        raise Failure(f"{name} has no source distribution in this machine's index of packages")
    version = max(archives, key=lambda text: [int(part) for part in text.split(".")])
    with urllib.request.urlopen(urllib.parse.urljoin(address, archives[version]), timeout=120) as answer:
        return version, answer.read()


def wheel_of(name: str, version: str, files: dict[str, bytes], place: pathlib.Path) -> pathlib.Path:
    """Writes a wheel of pure Python (the binary distribution format of packaging.python.org)."""
    about = f"{name.replace('-', '_')}-{version}.dist-info"
    files = {**files,
             f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
             f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: gpu-check\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
                     for path, data in files.items()) + f"{about}/RECORD,,\n"
    wheel = place / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in [*files.items(), (f"{about}/RECORD", record.encode())]:
            out.writestr(path, data)
    return wheel


def triton_files(archive: bytes) -> dict[str, bytes]:
    """The kernels of mamba-ssm, with empty packages around them."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar.getmembers():
            path = member.name.partition("/")[2]
            if member.isfile() and KEPT.match(path):
                files[path] = tar.extractfile(member).read()
    if "mamba_ssm/ops/triton/ssd_combined.py" not in files:
        raise Failure("mamba-ssm's source distribution has no mamba_ssm/ops/triton/ssd_combined.py")
    for package in ("mamba_ssm", "mamba_ssm/ops", "mamba_ssm/ops/triton", "mamba_ssm/utils"):
        files[f"{package}/__init__.py"] = b""
    return files


def fetch(place: pathlib.Path) -> list[pathlib.Path]:
    """Fills a folder with wheels; returns them."""
    place.mkdir(parents=True, exist_ok=True)
    run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", place, *AS_THEY_ARE], timeout=300)
    version, archive = newest_source("mamba-ssm")
    wheel_of("mamba-ssm", version, triton_files(archive), place)
    wheels = sorted(place.glob("*.whl"))
    say(f"fetched {', '.join(wheel.name for wheel in wheels)}")
    return wheels


if __name__ == "__main__":
    try:
        fetch(pathlib.Path(sys.argv[1]))
    except (Failure, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"peer_wheels: error: {error}")
