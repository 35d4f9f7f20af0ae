"""A Model of codegen becomes a costate_problem: byte code at once, compiled C as soon as a compiler has made it.

Both have the same bits, so that a run may use either."""
import json
import os
import pickle
import shutil
import sys
import tempfile
import threading
from pathlib import Path

from costate import _compile, _library as library
from costate import _places as places
from costate._background import Background
from costate._library import ModelError
from costate._program import Program
from costate.tracing.building import described
from costate._generator import equations
from costate.tracing.numbers import operations

ORIGIN = "a traced function"
# Operations of the functions up to which their C is compiled with -O3, and up to which with -O1; beyond: -O0.
# Compilers need minutes for long functions without loops, and gain little: a run with its gradient takes 0.88 of the
# time of byte code in HIRES with -O3; 0.67 with -O1 and 0.75 with -O0 in a heat equation of 200 cells, whose C takes 26
# and 5 seconds.
SMALL, LARGE = 300, 1000
LEVELS = ((SMALL, 3), (LARGE, 1))
LOCK = threading.Lock()
GOING = {}                      # key: the Background that compiles it


class Engine:
    """key: of its C in the cache; now(): what evaluates it, a _program.Program or a _compile.Compiled, which offer
    problem and backend"""

    def __init__(self, key, first, background):
        self.key, self._used, self._background = key, [first], background

    def now(self):
        """what a run that begins now uses"""
        if isinstance(self._used[-1], Program) and self._background is not None and self._background.result is not None:
            self._used.append(self._background.result)          # runs may use byte code after it was compiled
        return self._used[-1]

    def wait(self, timeout=None):
        """until the compiler has ended, or so many seconds; returns whether runs are now compiled"""
        if self._background is not None:
            self._background.wait(timeout)
        return not isinstance(self.now(), Program)


def engine(model, may_compile=lambda: True):
    """What evaluates a Model.  may_compile: asked before something is compiled that is not in the cache"""
    count = operations(model.graph.nodes[a] for a in model.graph.order(roots_of(model)))
    words = _compile.command(next((level for most, level in LEVELS if count <= most), 0))
    if not _compile.has_compiler():
        return Engine(_compile.digest(described(model)), program_of(model), None)
    key = key_of(model, words)
    before = known(key)
    if before is not None:
        return Engine(key, before, None)
    data = pickle.dumps(model)                  # before byte code is made, which adds to the graph
    first = program_of(model, needed=False)
    if first is None:
        return Engine(key, made(key, data, words), None)
    return Engine(key, first, started(key, data, words) if may_compile() else None)


def roots_of(model):
    return [*model.equations, *model.cost_nodes, *(r.guard for r in model.relations),
            *(a for e in model.events for a in ([e.guard] if e.guard is not None else []) + list(e.jumps.values()))]


def key_of(model, words):
    return _compile.digest(repr((described(model), library.version(), _compile.stamp(), words,
                                 _compile.compiler_version(words[0]))))


def known(key):
    """what was compiled before, or None"""
    if key not in _compile.LOADED:
        found = _compile.known(_compile.user_cache(), key)
        if found is None:
            return None
        _compile.LOADED[key] = found
    return _compile.LOADED[key]


def program_of(model, needed=True):
    """its byte code; None where that does not serve it and is not needed"""
    try:
        return Program.of_model(model, ORIGIN)
    except equations("model").Refused as error:
        if needed:
            raise ModelError(f"there is no C compiler, and {error}") from None
        return None


# ---- compiled ------------------------------------------------------------------------------------------------------

def started(key, data, words):
    """a Background that compiles it; one for all Problems that wait for the same"""
    with LOCK:
        if key not in GOING or GOING[key].ended and GOING[key].result is None:
            GOING[key] = Background(lambda begun: made(key, data, words, begun))
        return GOING[key]


def made(key, data, words, begun=None):
    """a _compile.Compiled of a pickled model; codegen and the compiler run in processes of low priority"""
    gentle = ["nice", "-n", "10"] if begun is not None and shutil.which("nice") else []
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        Path(place, "model.pickle").write_bytes(data)
        env = dict(os.environ, PYTHONPATH=places.CODEGEN, PYTHONDONTWRITEBYTECODE="1")
        _, errors, status = _compile.run([*gentle, sys.executable, "-m", "codegen.equations.pickled", ORIGIN], place,
                                         begun, env=env)
        if status:
            raise ModelError(f"C cannot be printed: {errors.strip()}")
        _compile.compile_(place, begun, [*gentle, *words])
        content, about = Path(place, "model.so").read_bytes(), json.loads(Path(place, "model.json").read_text("utf-8"))
    _compile.LOADED[key] = _compile.stored(key, content, about)
    return _compile.LOADED[key]
