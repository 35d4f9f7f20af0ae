"""What the tests of packaging share: a small program from outside, and the library installed below a directory.

Each test is called with   SOURCE BUILD SANITIZE COMPILER...   and reports in the format of cmocka."""

import atexit
import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

root, build, sanitize, compiler = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(root, "tests"))

from cases import Skipped, run_all  # noqa: E402, F401

sanitized = ["-fsanitize=" + sanitize] if sanitize != "none" else []
strict = ["-std=c11", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror"]
example = os.path.join(root, "examples", "01_decay.c")
answer = "y(1) = 0.0995741, dy(1)/dy(0) = 0.0497871, dy(1)/dp = -0.0995741"


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def write(name, text):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def run(*command, fails=False, **more):
    """what the command prints; its own words are in the failure"""
    env = dict(os.environ, OPENBLAS_NUM_THREADS="1", **more.pop("env", {}))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, **more)
    assert fails or done.returncode == 0, "%s: %d\n%s" % (" ".join(command), done.returncode, done.stdout)
    return done.stdout


def cc(*arguments):
    return run(*compiler, *sanitized, *strict, *arguments)


def needs(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skipped("there is no " + tool)


def unsanitized():
    """A foreign build knows nothing of our sanitizer."""
    if sanitized:
        raise Skipped("the library has a sanitizer in it")


def right(printed):
    assert printed.strip() == answer, printed


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        yield place


@functools.lru_cache(maxsize=None)
def options():
    return {o["name"]: o["value"] for o in json.loads(run("meson", "introspect", "--buildoptions", build))}


def option(name):
    """a Meson option of the build under test"""
    return options()[name]


@functools.lru_cache(maxsize=None)
def original():
    """the folder that the build under test was installed to once, for this program; it goes at its end"""
    place = tempfile.TemporaryDirectory(prefix="costate-")
    atexit.register(place.cleanup)
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", place.name)
    return place.name


class Installed:
    """The build under test installed below a directory, as for a package: moved away from its prefix.  A copy, which a
    test may change."""

    def __init__(self, place, *kinds):
        if option("default_library") not in kinds + ("both",):
            raise Skipped("default_library is " + option("default_library"))
        shutil.copytree(original(), place, symlinks=True, dirs_exist_ok=True)
        self.prefix = place + option("prefix")
        self.lib = os.path.join(self.prefix, option("libdir"))
        self.include = os.path.join(self.prefix, option("includedir"))
        self.share = os.path.join(self.prefix, "share")

    def flags(self, *what):
        """as pkg-config says, with the prefix moved"""
        said = run("pkg-config", "--define-variable=prefix=" + self.prefix, *what, "costate",
                   env={"PKG_CONFIG_PATH": os.path.join(self.lib, "pkgconfig")})
        return said.split()


def library():
    """the shared library in the build"""
    return os.path.join(build, "libcostate.so")


HEADERS = ("costate.h", "accuracy.h", "bvp.h", "ensemble.h", "lanes.h", "linsol.h", "operators.h",
           "periodic.h", "pieces.h", "program.h", "steady.h")


def declared(*headers):
    """the functions that the public headers declare"""
    text = "".join(read("include/costate/" + name) for name in headers or HEADERS)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.M)
    text = re.sub(r"static inline.*?^}$", "", text, flags=re.S | re.M)
    return set(re.findall(r"^[A-Za-z][\w \*]*?\b(costate_\w+)\s*\(", text, re.M))
