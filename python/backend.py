"""The build backend of pyproject.toml: meson-python, and the tag of wheels for this and all later versions of Python.

The extension keeps to the limited API of Python and is called _costate.abi3.so.  meson-python 0.12, that of Debian 12,
reads this from the name; later versions ignore the name and ask for a key in pyproject.toml that 0.12 refuses."""
import base64
import csv
import hashlib
import io
import zipfile
from pathlib import Path

import mesonpy


def __getattr__(name):
    return getattr(mesonpy, name)               # the other hooks


def build_wheel(directory, config_settings=None, metadata_directory=None):
    """The name of the wheel that was written in a directory"""
    return limited(Path(directory, mesonpy.build_wheel(directory, config_settings, metadata_directory))).name


def limited(path):
    """The wheel with the tag of the limited API, in the place of one for a single version: cp313-cp313 is cp313-abi3"""
    *name, python, abi, platform = path.stem.split("-")
    if abi != python:                           # abi3 already, or a Python without the limited API
        return path
    new = path.with_name("-".join([*name, python, "abi3", platform]) + ".whl")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as out:
        contents = {entry: old.read(entry) for entry in old.infolist()}
        wheel = next(entry for entry in contents if entry.filename.endswith(".dist-info/WHEEL"))
        record = next(entry for entry in contents if entry.filename.endswith(".dist-info/RECORD"))
        contents[wheel] = contents[wheel].replace(f"Tag: {python}-{abi}-".encode(), f"Tag: {python}-abi3-".encode())
        contents[record] = recorded(contents[record], wheel.filename, contents[wheel])
        for entry, content in contents.items():
            out.writestr(entry, content, zipfile.ZIP_DEFLATED)
    path.unlink()
    return new


def recorded(record, name, content):
    """RECORD with the digest and the size of a file that has changed"""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    rows = list(csv.reader(record.decode().splitlines()))
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(
        [row[0], f"sha256={digest}", len(content)] if row[0] == name else row for row in rows)
    return out.getvalue().encode()
