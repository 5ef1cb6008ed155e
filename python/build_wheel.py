"""`pip install .` in a clone: builds the compiled part with CMake and packs the package. Nothing is fetched but, where
there is apt, Debian's packages; pyproject.toml names this file."""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def _project():
    """What pyproject.toml says, as far as it is asked here; its lines are ours, and Python 3.9 has no reader for them."""
    text = (ROOT / "pyproject.toml").read_text()
    return {key: value.strip('"') for key, value in re.findall(r'^([a-z-]+) = ("[^"]*")$', text, re.MULTILINE)}


def _name():
    project = _project()
    return f"{project['name']}-{project['version']}"


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def _metadata():
    project = _project()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        "License: Apache-2.0",
        f"Requires-Python: {project['requires-python']}",
        "Requires-Dist: numpy",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (ROOT / project["readme"]).read_text()


def _compiled():
    """Builds for the interpreter that installs, and returns the file."""
    subprocess.run([ROOT / "cmake" / "build-python", sys.executable], check=True)
    folder = ROOT / "build" / "release" / "python" / "modlab"
    return folder / ("_core" + sysconfig.get_config_var("EXT_SUFFIX"))


def _about():
    """What a wheel says of itself, by the names of files."""
    info = f"{_name()}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: modlab\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    return info, {
        f"{info}/METADATA": _metadata().encode(),
        f"{info}/WHEEL": wheel.encode(),
        f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }


def _write(path, files):
    """A wheel: a zip of files and a list of their hashes. Times are always the same, so that equal files are equal wheels."""
    info, about = _about()
    files = {**files, **about}
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(name, data):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)

        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
            add(name, data)
        add(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """For pip, which asks before anything is built."""
    info, about = _about()
    (pathlib.Path(metadata_directory) / info).mkdir()
    for name, data in about.items():
        (pathlib.Path(metadata_directory) / name).write_bytes(data)
    return info


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{_name()}-{_tag()}.whl"
    compiled = _compiled()
    package = ROOT / "python" / "modlab"
    sources = sorted(path for path in package.iterdir() if path.suffix in (".py", ".pyi") or path.name == "py.typed")
    files = {f"modlab/{path.name}": path.read_bytes() for path in [*sources, compiled]}
    _write(pathlib.Path(wheel_directory) / name, files)
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e .`: the package stays in the build's folder, whose Python files are links to those in the clone."""
    name = f"{_name()}-{_tag()}.whl"
    folder = _compiled().parent.parent
    _write(pathlib.Path(wheel_directory) / name, {"modlab.pth": f"{folder}\n".encode()})
    return name


def build_sdist(sdist_directory, config_settings=None):
    """The clone's files, as git lists them."""
    name = f"{_name()}.tar.gz"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for file in listed.decode().split("\0"):
            if file:
                archive.add(ROOT / file, f"{_name()}/{file}")
    return name
