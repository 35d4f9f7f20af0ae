"""A Model of codegen becomes a costate_problem: its C is compiled, kept in the cache of models and loaded."""
import ctypes
import json
import tempfile
from pathlib import Path

from costate import _compile, _library as library
from costate._costate import ffi
from costate.tracing.building import described
from costate.tracing.codegen import module

# Operations up to which C is compiled with -O1, else with -O0.  Compilers need minutes to optimise long functions
# without loops; what they gain in a run with its gradient was 10 % in HIRES and 25 % in a heat equation of 50 cells.
SMALL = 150


class Engine:
    """key: of its C in the cache; problem: a costate_problem; backend: a linear solver made for it, or None; the object
    keeps both alive"""

    def __init__(self, key, found):
        self.key, self._found = key, found
        name = found.about["name"]
        self.problem = self._call(f"{name}_problem", "const costate_problem *")
        self.backend = None
        if "backend" in found.about["functions"]:
            self.backend = self._call(f"{name}_backend", "const struct costate_backend *")

    def _call(self, name, result):
        address = ctypes.cast(getattr(self._found.library, name), ctypes.c_void_p).value
        return ffi.cast(f"{result}(*)(void)", address)()


def engine(model, may_compile=lambda: True):
    """What evaluates a Model.  may_compile: asked before something is compiled that is not in the cache; where it says
    no, the result is None"""
    words = _compile.command(1 if len(model.graph.nodes) <= SMALL else 0)
    text = repr((described(model), library.version(), _compile.stamp(), words, _compile.compiler_version(words[0])))
    key = _compile.digest(text)
    if key not in _compile.LOADED:
        found = _compile.known(_compile.user_cache(), key)
        if found is None and not may_compile():
            return None
        _compile.LOADED[key] = found or _compile.stored(key, *built(model, words))
    return Engine(key, _compile.LOADED[key])


def built(model, words):
    """(bytes of the shared object, what it has)"""
    texts = module("c_file").write(model, "a traced function", "model")
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        for name, text in zip(("model.c", "model.h", "model.json"), texts):
            Path(place, name).write_text(text, encoding="utf-8")
        _compile.compile_(place, words=words)
        return Path(place, "model.so").read_bytes(), json.loads(texts[2])
