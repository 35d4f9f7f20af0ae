"""The C source of all methods of a build: a file that was checked before, as it stands, is not derived again.

A folder keeps the descriptor of each file under a checksum of all that it is made from: the file, for a composite
method those of its members, the structs of a descriptor, and codegen itself."""
import hashlib
import os
from pathlib import Path

from . import emit, objects
from .kinds import COMPOSITE, Methods, files

HERE = Path(__file__).resolve().parent
ELSEWHERE = ("tests", "equations")                   # parts of codegen that no method depends on


def source(directories, folder):
    """The C source for the files of these directories; folder: where descriptors are kept"""
    folder.mkdir(parents=True, exist_ok=True)
    found, own = Methods(files(*directories)), of_codegen()
    composite = [name for name in found.paths if found.kinds[name] is COMPOSITE]
    late = [name for name in found.paths if name not in composite] + composite
    return emit.source(list(found.paths), [kept(folder, found, name, own) for name in late], objects.layout())


def kept(folder, found, name, own):
    """The descriptor of a method, from the folder if it is there."""
    digest = own.copy()
    for path in found.made_from(name):
        digest.update(b"%s/%s\0%s\0" % (path.parent.name.encode(), path.name.encode(), path.read_bytes()))
    place = folder / (digest.hexdigest() + ".c")
    if not place.exists():
        text = found.text(name)
        part = place.with_suffix(f".{os.getpid()}")          # another build may write the same file
        part.write_text(text, encoding="utf-8")
        part.replace(place)
    return place.read_text(encoding="utf-8")


def of_codegen():
    """The checksum so far: of codegen's own text and the structs.  The list of families decides which files are read,
    not what is made of one."""
    digest = hashlib.sha256(objects.layout().encode())
    for path in sorted(HERE.rglob("*.py")):
        if path.relative_to(HERE).parts[0] not in ELSEWHERE:
            digest.update(path.read_bytes())
    return digest
