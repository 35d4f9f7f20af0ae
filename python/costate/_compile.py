"""Equation files to loaded shared objects: costate-model, the system's C compiler, and a cache for each user."""
import ctypes
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from costate import _library as library
from costate import _places as places
from costate._costate import ffi, lib
from costate._library import ModelError

FLAGS = ("-fPIC", "-shared", "-ffp-contract=off")
# Bytes of C above which -O1 takes the place of -O3: long functions without loops run as fast, and gcc takes half of the
# time (saprc99, 1.6 MB: 8 s and 15 s; with maps for lanes of 70 species, 1.1 MB: 14 s and 31 s).
LONG = 200_000
IN_C = re.compile(r'\bfrom\s*"([^"\n]*)"')              # of a function in C in an equation file
# costate-model --lanes: only for the number of lanes of this processor (70 species: 5.6 s instead of 12.6 s).
LANES = ("-fopenmp-simd", "-fno-math-errno", *([f"-DCOSTATE_LANES_ONLY={lib.costate_lanes()}"] *
                                               (lib.costate_lanes() > 1)))
NO_COMPILER = """models are compiled, but there is no C compiler: {command} was not found.
Install one (Debian, Ubuntu: apt install gcc; Fedora: dnf install gcc; conda: conda install c-compiler; \
macOS: xcode-select --install), or name it in the environment variable CC."""


class Compiled:
    """A loaded shared object, and what it has: codegen/equations/about.py.  Models without a grid are offered as by
    _program.Program."""

    def __init__(self, path, about):
        self.library, self.path, self.about = ctypes.CDLL(str(path)), path, about
        if not about["axes"]:
            self.problem = self.function("problem", "const costate_problem *")()
            self.ctx, self.start_map = self.problem.ctx, self.map("start_map")
            self.output_map = self.map("output_map") if "output" in about else None
            self.backend = self.function("backend", "const struct costate_backend *")() if self.has("backend") else None

    def lanes(self):
        """the maps of several members side by side, which were asked for"""
        return self.function("lanes", "const costate_lane_maps *")()

    def has(self, suffix):
        return suffix in self.about["functions"]

    def function(self, suffix, result, *arguments):
        """a function of the C file"""
        address = ctypes.cast(getattr(self.library, f"{self.about['name']}_{suffix}"), ctypes.c_void_p).value
        return ffi.cast(f"{result}(*)({', '.join(arguments) or 'void'})", address)

    def map(self, suffix):
        return self.function(suffix, "const costate_map *")()

    def defaults(self):
        """the values of the parameters, copied"""
        count = self.problem.np
        return np.array((ctypes.c_double * count).in_dll(self.library, f"{self.about['name']}_defaults")) if count \
            else np.zeros(0)


LOADED = {}             # key: Compiled


def compiled(text, file, lanes=False):
    """The model of an equation file, compiled now or before.

    file: its name in messages; its stem names a model that has no name in its text; lanes: with maps of several members
    side by side"""
    return found(text, file, lanes) or made(text, file, lanes=lanes)


def found(text, file, lanes=False):
    """the model, if it was compiled before; else None"""
    key = key_of(text, file, lanes)
    if key not in LOADED:
        before = known(user_cache(), key)
        if before is None:
            return None
        LOADED[key] = before
    return LOADED[key]


def made(text, file, started=None, lanes=False):
    """the model, compiled now; started(process): see run"""
    key = key_of(text, file, lanes)
    LOADED[key] = stored(key, *built(text, file, started, lanes))
    return LOADED[key]


def key_of(text, file, lanes=False):
    words = command(lanes=lanes)
    return digest(repr((text, Path(file).stem, library.version(), stamp(), words, compiler_version(words[0]),
                        files_in_c(text))))


def files_in_c(text):
    """digests of the files with functions in C that a text names, and of those that they include"""
    files = [file for file in dict.fromkeys(IN_C.findall(text)) if os.path.isabs(file) and os.path.isfile(file)]
    found = {file for name in files for file in included_by(name)}
    return sorted((file, digest(Path(file).read_bytes())) for file in found)


def included_by(file):
    """a file in C and those that it includes, without those of the system"""
    compiler, more = (shlex.split(os.environ.get(name) or default) for name, default in (("CC", "cc"), ("CFLAGS", "")))
    done = subprocess.run([*compiler, *more, "-I", places.INCLUDE, "-x", "c", "-MM", "-MT", "x", file],
                          capture_output=True, text=True, errors="replace")
    listed = shlex.split(done.stdout.replace("\\\n", " ").removeprefix("x:")) if done.returncode == 0 else []
    return [file, *(name for name in listed if os.path.isfile(name))]


def has_compiler():
    try:
        compiler_version(command()[0])
    except ModelError:
        return False
    return True


def digest(of):
    return hashlib.sha256(of if isinstance(of, bytes) else of.encode("utf-8", "surrogatepass")).hexdigest()


@functools.lru_cache(maxsize=1)
def stamp():
    """changes when costate-model does"""
    files = sorted(Path(places.CODEGEN, "codegen").rglob("*.py"))
    return digest(repr([(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]))


# ---- the cache: KEY.json names a shared object, which is called by the digest of its own bytes ----------------

def user_cache():
    """the directory where compiled models are kept"""
    given = os.environ.get("COSTATE_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "costate"


@functools.lru_cache(maxsize=1)
def temporary():
    """a directory for models of this process, where the cache cannot be written; removed at its end"""
    return tempfile.TemporaryDirectory(prefix="costate-")


def known(place, key):
    """what the cache holds; None: nothing, or a damaged entry"""
    check_owner(place)
    try:
        entry = json.loads((place / f"{key}.json").read_text(encoding="utf-8"))
        path = place / (entry["object"] + ".so")
        if digest(path.read_bytes()) != entry["object"]:
            return None
        return Compiled(path, entry["about"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_owner(place):
    """Models in the cache are programs that this user runs: others must not be able to write them"""
    try:
        found = os.stat(place)
    except OSError:
        return
    if not hasattr(os, "geteuid"):
        return
    if found.st_uid != os.geteuid():
        raise ModelError(f"the cache of compiled models, {place}, belongs to another user, who could replace models by "
                         "other programs: set COSTATE_CACHE to a directory of your own")
    if found.st_mode & 0o022:
        raise ModelError(f"other users may write to the cache of compiled models, {place}, and could replace models by "
                         f"other programs: chmod go-w {shlex.quote(str(place))}, or set COSTATE_CACHE to another "
                         "directory")


def stored(key, content, about):
    """puts a shared object where this user can write and execute files, and loads it"""
    try:
        return put(user_cache(), key, content, about)
    except OSError:
        pass
    try:
        return put(Path(temporary().name), key, content, about)
    except OSError as error:
        raise ModelError(f"the compiled model cannot be loaded: {error}") from None


def put(place, key, content, about):
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_owner(place)
    path = place / f"{digest(content)}.so"
    replace(path, content)
    found = Compiled(path, about)
    entry = dict(object=path.stem, about=about)
    replace(place / f"{key}.json", json.dumps(entry).encode())
    return found


def replace(path, content):
    """writes a file at once: other processes see the old or the new one"""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as out:
        try:
            out.write(content)
            out.close()
            os.replace(out.name, path)
        except OSError:
            os.unlink(out.name)
            raise


# ---- building -----------------------------------------------------------------------------------------------

def built(text, file, started=None, lanes=False):
    """(bytes of the shared object, what it has)"""
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        translate(place, text, file, started, ["--lanes"] * lanes)
        about = json.loads(Path(place, "model.json").read_text(encoding="utf-8"))
        with open(os.path.join(place, "model.c"), "a", encoding="utf-8") as out:
            out.write(provided_in_c(about))
        compile_(place, started, command(level_of(place), lanes))
        return Path(place, "model.so").read_bytes(), about


def provided_in_c(about):
    """C behind that of a model: the functions that it needs call those whose addresses _functions.Functions stores"""
    text = ""
    for need in about.get("needs", ()):
        name, pointer = f"{about['name']}_{need['name']}", pointer_to(about["name"], need["name"])
        text += f"\nvoid (*{pointer})(const double *, double *, double *, double *, double *);\n" \
            f"void {name}(const double *x, double *value, double *gradient, double *hessian, double *third)\n" \
            f"{{\n    {pointer}(x, value, gradient, hessian, third);\n}}\n"
    return text


def pointer_to(model, function):
    return f"{model}_{function}_in_python"


def run(words, place, started, **more):
    """(what a command printed, its errors, its status); started(process) is called while it runs"""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", cwd=place,
                          **more) as process:
        if started:
            started(process)
        try:
            return (*process.communicate(), process.returncode)
        except BaseException:
            process.kill()
            raise


def translate(place, text, file, started=None, more=()):
    """costate-model"""
    if sys.version_info < (3, 11):
        raise ModelError("equation files need Python 3.11 or newer; this is Python {}.{}".format(*sys.version_info))
    path = os.path.join(place, Path(file).stem + ".eq")
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as out:
        out.write(text)
    env = dict(os.environ, PYTHONPATH=places.CODEGEN, PYTHONDONTWRITEBYTECODE="1")
    words = [sys.executable, "-m", "codegen", "model", path, "-o", os.path.join(place, "model.c"), "--json", *more]
    _, errors, status = run(words, place, started, env=env)
    if status:
        raise ModelError(errors.strip().replace(path, str(file)))


def command(level=3, lanes=False):
    """how model.c becomes model.so, as words of a command; CC and CFLAGS of the environment can replace -O3"""
    compiler, more = (shlex.split(os.environ.get(name) or default) for name, default in (("CC", "cc"), ("CFLAGS", "")))
    optimised = [] if any(word.startswith("-O") for word in [*compiler, *more]) else [f"-O{level}"]
    side_by_side = LANES if lanes else ()
    return [*compiler, *optimised, *FLAGS, *side_by_side, *more, "-I", places.INCLUDE, "model.c", "-o", "model.so",
            *libraries()]


def level_of(place):
    """that of model.c in this directory"""
    return 1 if Path(place, "model.c").stat().st_size > LONG else 3


def libraries():
    """the library, as words of the command that links with it"""
    return [os.path.join(places.LIBRARY, places.FILE), f"-Wl,-rpath,{places.LIBRARY}", "-lm"]


@functools.lru_cache
def compiler_version(compiler):
    """what the compiler says about itself"""
    try:
        return subprocess.run([compiler, "--version"], capture_output=True, text=True, errors="replace").stdout
    except OSError:
        raise ModelError(NO_COMPILER.format(command=compiler)) from None


def compile_(place, started=None, words=None):
    words = words or command(level_of(place))
    printed, errors, status = run(words, place, started)
    if status:
        raise ModelError(f"the C compiler failed: {shlex.join(words)}\n{(errors + printed).strip()}")
