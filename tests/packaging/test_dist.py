"""The tarball of `meson dist` holds all files of the commit and what Python writes, and is built without Python.

    test_dist.py SOURCE BUILD SANITIZE COMPILER...   reports in the format of cmocka"""
import atexit
import functools
import glob
import os
import shutil
import tarfile
import tempfile

from external import Skipped, build, compiler, folder, needs, read, root, run, run_all, unsanitized, write

GENERATED = ["generated/methods.c", "generated/methods.list", "generated/costate.3", "generated/single/costate.c",
             "generated/single/costate.h"]


@functools.lru_cache(maxsize=None)
def unpacked():
    """the folder that a tarball, made from the commit at hand, unpacks to"""
    needs("git", "meson", "ninja")
    unsanitized()
    if not os.path.exists(os.path.join(root, ".git")):
        raise Skipped("this is not a git repository")
    place = tempfile.mkdtemp(prefix="costate-dist-")
    atexit.register(shutil.rmtree, place, True)
    run("meson", "dist", "-C", build, "--no-tests", "--allow-dirty", "--formats", "gztar")
    made, = glob.glob(os.path.join(build, "meson-dist", "costate-*.tar.gz"))
    shutil.move(made, place)
    with tarfile.open(os.path.join(place, os.path.basename(made))) as file:
        file.extractall(place)
    source, = (os.path.join(place, name) for name in os.listdir(place) if not name.endswith(".gz"))
    return source


def configured(place, *options):
    """a build directory of the tarball, as the compiler's habits are"""
    run("meson", "setup", *options, place, unpacked(), env={"GIT_CEILING_DIRECTORIES": os.path.dirname(unpacked()),
                                                            "CC": " ".join(compiler)})
    return place


def test_it_holds_the_commit_and_what_is_generated():
    source = unpacked()
    found = {os.path.relpath(os.path.join(top, name), source) for top, _, names in os.walk(source) for name in names}
    committed = set(run("git", "-C", root, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
    headers = {"generated/single/costate/" + os.path.basename(x) for x in glob.glob(f"{root}/include/costate/*")
               if not x.endswith("petsc.h")}
    expected = committed | set(GENERATED) | headers
    assert found == expected, "too many or missing: " + " ".join(sorted(found ^ expected)[:9])
    assert os.access(os.path.join(source, "run"), os.X_OK)


def test_no_python_is_asked():
    """none is named, and no command of what is installed starts one; methods.c is that of the build"""
    with folder() as place:
        made = configured(os.path.join(place, "made"), "-Dpython=none", "-Ddefault_library=both")
        commands = run("ninja", "-C", made, "-t", "commands", "installed")
        assert "methods.sh" in commands and "python" not in commands.replace("PYTHON", ""), "Python is asked"
        run("ninja", "-C", made, "methods.c", "costate.3")
        with open(os.path.join(made, "methods.c"), encoding="utf-8") as file:
            assert file.read() == read(os.path.join(unpacked(), "generated/methods.c")), "another methods.c"
        assert ".TH" in read(os.path.join(made, "costate.3"))


def test_other_methods_need_python():
    """a method that is changed, or added, is not passed over"""
    with folder() as place:
        shutil.copytree(os.path.join(unpacked(), "methods/erk"), os.path.join(place, "more/erk"))
        made = configured(os.path.join(place, "made"), "-Dpython=none", f"-Dmore_methods={place}/more")
        said = run("ninja", "-C", made, "methods.c", fails=True)
        assert "name a Python, 3.11 or newer, with -Dpython=PATH" in said, said


def test_cmake_takes_the_single_file():
    """without Python: CMake looks for one only if it must write costate.c"""
    needs("cmake", "ninja")
    with folder() as place:
        write(os.path.join(place, "CMakeLists.txt"), "cmake_minimum_required(VERSION 3.16)\nproject(outside C)\n"
              f'add_subdirectory("{unpacked()}" costate)\n')
        said = run("cmake", "-G", "Ninja", "-S", place, "-B", f"{place}/made",
                   "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON")
        assert "writing" not in said, said
        commands = run("ninja", "-C", f"{place}/made", "-t", "commands", "costate")
        assert "generated/single/costate.c" in commands, commands


run_all(globals())
