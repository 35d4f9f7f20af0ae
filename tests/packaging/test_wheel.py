"""`pip wheel .` gives a wheel with the library in it, which works from wherever it is put, and is not under the GPL.

One wheel is built, without a network, from a copy of the sources; its parts are tested one by one."""
import functools
import os
import re
import shutil
import sys
import tempfile
import zipfile

from external import Skipped, build, compiler, folder, needs, read, right, root, run, run_all, unsanitized, write

PLACE = tempfile.TemporaryDirectory(prefix="costate-")
ENV = {"COSTATE_CACHE": os.path.join(PLACE.name, "cache"), "PYTHONPATH": "", "CFLAGS": "-O1"}
DECAY = "model decay\nparameter k = 3\nstate y = 2\ny' = -k*y\n"


@functools.lru_cache(maxsize=None)
def python():
    """the Python that the package was built for, if it can build wheels"""
    unsanitized()
    needs("meson", "ninja")
    places = os.path.join(build, "python", "costate", "_places.py")
    if not os.path.exists(places):
        raise Skipped("the package for Python was not built")
    with open(places, encoding="utf-8") as file:
        found = re.search(r'^PYTHON = "(.*)"$', file.read(), re.M)[1]
    for module, package in (("mesonpy", "python3-mesonpy"), ("pip", "python3-pip"), ("ensurepip", "python3-venv")):
        if "no" in run(found, "-c", f"import importlib.util as u; print('yes' if u.find_spec('{module}') else 'no')"):
            raise Skipped(f"{found} has no {module} (Debian: {package})")
    return found


def copied(place):
    """the sources, without builds; meson-python writes into their folder"""
    return shutil.copytree(root, os.path.join(place, "costate"), symlinks=True, ignore=shutil.ignore_patterns(
        ".git", "build", "build-*", ".mesonpy*", "__pycache__", "docs", "bench", "examples", "tests"))


@functools.lru_cache(maxsize=None)
def wheel():
    """the path of a wheel; little optimised, and methods that were checked for the build are not checked again"""
    checked = os.environ.get("COSTATE_CHECKED") or os.path.join(build, "methods.checked")
    run(python(), "-m", "pip", "wheel", "--no-index", "--no-build-isolation", "--no-deps",
        "--config-settings=setup-args=-Doptimization=0", "-w", PLACE.name, copied(PLACE.name),
        env={**ENV, "CC": " ".join(compiler), "COSTATE_CHECKED": checked})
    return next(os.path.join(PLACE.name, name) for name in os.listdir(PLACE.name) if name.endswith(".whl"))


@functools.lru_cache(maxsize=None)
def installed():
    """the folder of programs of a new environment with the wheel and this machine's NumPy and cffi"""
    place = os.path.join(PLACE.name, "environment")
    run(python(), "-m", "venv", "--system-site-packages", place)
    programs = os.path.join(place, "bin")
    run(os.path.join(programs, "pip"), "install", "--no-index", "--no-deps", wheel(), env=ENV)
    return programs


def py(text, *arguments, **more):
    """what a program prints with the wheel"""
    return run(os.path.join(installed(), "python"), "-c", text, *arguments, env=ENV, **more)


def about():
    """what python -m costate says"""
    lines = run(os.path.join(installed(), "python"), "-m", "costate", env=ENV).splitlines()
    return {what: value.strip() for what, value in (line.split(":", 1) for line in lines)}


def test_tag_and_contents():
    """for this Python and all later ones; the package and what costate-model reads, and nothing else"""
    assert re.fullmatch(r"costate-[\d.]+-cp3\d+-abi3-linux_\w+\.whl", os.path.basename(wheel())), wheel()
    with zipfile.ZipFile(wheel()) as file:
        names = file.namelist()
        assert all(name.startswith("costate") for name in names), names
        assert not [name for name in names if "test" in name or name.endswith((".c", ".md", ".toml"))], names
        for name in ("_costate.abi3.so", "libcostate.so.2", "share/include/costate/costate.h",
                     "share/codegen/equations/kpp.py", "share/src/step/descriptor.h", "torch.py", "__init__.pyi",
                     "py.typed"):
            assert "costate/" + name in names, name
        record = file.read(next(name for name in names if name.endswith("/RECORD"))).decode()
        assert len(record.splitlines()) == len(names)


def test_metadata():
    """the version is the library's; the licence is in the wheel; what it needs"""
    version = re.search(r"^  version: '(.*)'", read("meson.build"), re.M)[1]
    with zipfile.ZipFile(wheel()) as file:
        text = file.read(f"costate-{version}.dist-info/METADATA").decode()
        assert file.read(f"costate-{version}.dist-info/LICENSE").decode() == read("LICENSE")
    for line in (f"Version: {version}", "Requires-Python: >=3.11", "Description-Content-Type: text/markdown"):
        assert line in text.splitlines(), line
    assert re.search(r"^Requires-Dist: numpy", text, re.M) and re.search(r"^Requires-Dist: cffi", text, re.M)


def test_no_folder_of_the_machine():
    """no file names the folder that it was built in; the extension looks for the library in its own folder, and that
    needs libc and libm"""
    needs("readelf")
    with folder() as place, zipfile.ZipFile(wheel()) as file:
        file.extractall(place)
        for where, _, names in os.walk(place):
            for name in names:
                with open(os.path.join(where, name), "rb") as part:
                    assert PLACE.name.encode() not in part.read(), name
        dynamic = [run("readelf", "-d", os.path.join(place, "costate", name))
                   for name in ("_costate.abi3.so", "libcostate.so.2")]
    assert re.findall(r"\(RPATH\).*\[(.*)\]", dynamic[0]) == ["$ORIGIN/"], dynamic[0]
    assert "PATH)" not in dynamic[1], dynamic[1]
    needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\.so", dynamic[1]))
    assert needed <= {"libm", "libc", "ld-linux-x86-64"}, needed


def test_about():
    """version, solvers without the one that is under the GPL, compiler, and folders that exist"""
    said = about()
    assert said["costate"] == re.search(r"^  version: '(.*)'", read("meson.build"), re.M)[1]
    assert said["linear solvers"] == "dense, band, sparse (dense and band: built in)", said["linear solvers"]
    assert said["compiled models"] == ENV["COSTATE_CACHE"]
    for what in ("package", "library", "headers", "costate-model"):
        assert os.path.exists(said[what]) and said[what].startswith(PLACE.name), said[what]
    missing = run(os.path.join(installed(), "python"), "-m", "costate", env={**ENV, "CC": "no-such-compiler"})
    assert "no-such-compiler was not found" in missing, missing
    refused = run(os.path.join(installed(), "python"), "-m", "costate", "--nonsense", env=ENV, fails=True)
    assert "python -m costate --cflags" in refused, refused


def test_lines_of_readme():
    for page in ("README.md", "python/README.md"):
        right(py(re.search(r"```python\n(.*?)```", read(page), re.S)[1]))


def test_a_library_elsewhere_is_not_taken():
    """LD_LIBRARY_PATH, as ./run install prints it, names another libcostate.so.2"""
    with folder() as place:
        write(os.path.join(place, "libcostate.so.2"), "not a library")
        program = re.search(r"```python\n(.*?)```", read("README.md"), re.S)[1]
        right(run(os.path.join(installed(), "python"), "-c", program, env={**ENV, "LD_LIBRARY_PATH": place}))


def test_models_are_compiled():
    """by the package, and by costate-model with a C compiler"""
    printed = py("import sys, costate; r = costate.Problem(costate.Model(sys.argv[1]), rtol=1e-9, atol=1e-9)"
                 ".integrate((0, 1)); print('%.7f' % r.y[0], r.derivatives)", DECAY)
    assert printed.split()[0] == "0.0995741" and "exact" in printed, printed
    program = re.search(r"```c\n(.*?)```", read("README.md"), re.S)[1]
    with folder() as place:
        write(os.path.join(place, "decay.eq"), DECAY)
        write(os.path.join(place, "program.c"), program)
        run(os.path.join(installed(), "costate-model"), "decay.eq", cwd=place, env=ENV)
        flags, libraries = (run(os.path.join(installed(), "python"), "-m", "costate", option, env=ENV).split()
                            for option in ("--cflags", "--libs"))
        run(*compiler, *flags, "program.c", "decay.c", *libraries, "-o", "program", cwd=place)
        assert run("./program", cwd=place).startswith("y(1) = 0.09957, dy(1)/dy(0) = 0.04979"), place


def test_moved():
    """the package works from another folder: models find the headers and the library there"""
    package = about()["package"]
    with folder() as place:
        shutil.copytree(package, os.path.join(place, "costate"))
        program = "import sys, costate; assert costate.__file__.startswith(sys.argv[2]), costate.__file__; " \
                  "print(costate.Problem(costate.Model(sys.argv[1])).integrate((0, 1)).y.shape)"
        assert run(python(), "-c", program, DECAY, place, cwd=place,
                   env={**ENV, "PYTHONPATH": place, "COSTATE_CACHE": os.path.join(place, "cache")}) == "(1,)\n"


def test_tag_of_later_backends():
    """what meson-python names for one version of Python is named for all later ones, and RECORD says what is there"""
    program = """
import sys, zipfile
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import backend
path = Path(sys.argv[2], "costate-2.0.0-cp313-cp313-linux_x86_64.whl")
with zipfile.ZipFile(path, "w") as out:
    out.writestr("costate/__init__.py", "")
    out.writestr("costate-2.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: cp313-cp313-linux_x86_64")
    out.writestr("costate-2.0.0.dist-info/RECORD", "costate/__init__.py,sha256=x,0\\n"
                 "costate-2.0.0.dist-info/WHEEL,sha256=x,1\\ncostate-2.0.0.dist-info/RECORD,,\\n")
new = backend.limited(path)
assert new.name == "costate-2.0.0-cp313-abi3-linux_x86_64.whl" and not path.exists() and backend.limited(new) == new
with zipfile.ZipFile(new) as file:
    text = file.read("costate-2.0.0.dist-info/WHEEL")
    assert text.endswith(b"Tag: cp313-abi3-linux_x86_64"), text
    rows = file.read("costate-2.0.0.dist-info/RECORD").decode().splitlines()
    assert rows[0] == "costate/__init__.py,sha256=x,0" and rows[1].endswith("," + str(len(text))), rows
    assert rows[1] != "costate-2.0.0.dist-info/WHEEL,sha256=x," + str(len(text)), rows
print(backend.build_sdist.__module__)
"""
    with folder() as place:
        assert run(python(), "-c", program, os.path.join(root, "python"), place,
                   env={"PYTHONDONTWRITEBYTECODE": "1"}).strip() == "mesonpy"



try:
    run_all(globals())
finally:
    PLACE.cleanup()
    sys.stdout.flush()
