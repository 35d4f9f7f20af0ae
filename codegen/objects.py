"""The object of one method: C that is compiled into a shared library which costate_method_load reads.

The text contains the structs it needs (src/step/descriptor.h) and includes costate.h alone, so that installed headers
suffice.  It carries a checksum of these structs; the library refuses objects with another one."""
import hashlib
import re
from pathlib import Path

from .emit import INCLUDES

DESCRIPTOR = Path(__file__).resolve().parent.parent / "src" / "step" / "descriptor.h"


def structs():
    """The declarations of descriptor.h, without its guard, includes and comments."""
    text = re.sub(r"/\*.*?\*/", "", DESCRIPTOR.read_text(encoding="utf-8"), flags=re.S)
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return "\n".join(lines) + "\n"


def layout():
    """A checksum that changes with any declaration of descriptor.h."""
    return hashlib.sha256(structs().encode()).hexdigest()[:16]


def source(name, texts):
    """name: of the method; texts: its descriptor in C, after those of its members"""
    return "\n".join([
        f"/* The method {name} for costate_method_load: made by codegen, not to be edited.  cc -shared -fPIC */",
        *INCLUDES, "#include <costate/costate.h>", "", structs(), *texts,
        "extern const method_object costate_object;",
        "const method_object costate_object = {",
        f'    COSTATE_VERSION, "{layout()}", sizeof(costate_method), &method_{name}', "};",
        ""])
