"""What the libraries show: the functions of the public headers and nothing else, in the shared one with a version."""

import os
import re

from external import Installed, Skipped, build, cc, compiler, declared, example, folder, library, needs, option, \
    right, root, run, run_all, write

SANITIZER = re.compile(r"^(__|_)?(asan|odr_asan|ubsan|sancov|tsan|msan)|^__odr_asan")


def defined(library_file, *how):
    """global names that it defines, without those of a sanitizer"""
    lines = run("nm", "--defined-only", *how, library_file).splitlines()
    found = {line.split()[-1] for line in lines if re.match(r"^[0-9a-f]+ [A-Z] ", line)}
    return {name for name in found if not SANITIZER.match(name)}


def test_shared_library_shows_the_headers():
    needs("nm")
    found = {name.split("@")[0] for name in defined(library(), "-D")} - {"COSTATE_2"}
    assert found == declared(), "too many: %s; missing: %s" % (sorted(found - declared()), sorted(declared() - found))


def test_petsc_library_shows_its_header():
    """both kinds of it"""
    needs("nm")
    with folder() as place:
        lib = Installed(place, "shared", "static").lib
        kinds = [(os.path.join(lib, "libcostate_petsc.so"), "-D"), (os.path.join(lib, "libcostate_petsc.a"), "-g")]
        there = [kind for kind in kinds if os.path.exists(kind[0])]
        if not there:
            raise Skipped("built without PETSc")
        for kind in there:
            found = {name.split("@")[0] for name in defined(*kind)} - {"COSTATE_2"}
            assert found == declared("petsc.h"), "%s: %s" % (kind[0], sorted(found ^ declared("petsc.h")))


def test_symbols_carry_a_version():
    needs("nm")
    bare = [name for name in defined(library(), "-D") if not name.endswith("@@COSTATE_2") and name != "COSTATE_2"
            and not name.startswith("COSTATE_2@")]
    assert not bare, "without version: " + ", ".join(sorted(bare)[:5])


def test_programs_ask_for_that_version():
    needs("readelf")
    with folder() as place:
        exe = os.path.join(place, "decay")
        cc(example, "-o", exe, "-I" + os.path.join(root, "include"), "-L" + build, "-Wl,-rpath," + build, "-lcostate",
           "-lm")
        right(run(exe))
        assert re.search(r"Name: COSTATE_2\b", run("readelf", "-V", exe)), "the program would take any libcostate.so.2"


def hidden():
    """The build hides the inside of libcostate.a, or has warned that it cannot."""
    needs("nm", "objcopy")
    if option("b_lto") and "clang" in " ".join(compiler):
        raise Skipped("clang's objects for link-time optimisation cannot be made into one")


def test_static_library_shows_the_headers():
    hidden()
    with folder() as place:
        found = defined(os.path.join(Installed(place, "static").lib, "libcostate.a"), "-g")
    more = sorted(found - declared())
    assert not more, "%d names of the inside, among them %s" % (len(more), ", ".join(more[:8]))
    assert found == declared(), "missing: " + ", ".join(sorted(declared() - found))


def test_a_program_may_use_the_names_of_the_inside():
    """dot, fail, take ... of its own do not collide with those in the static library, and are not called by it"""
    needs("pkg-config")
    hidden()
    names = ["dot", "fail", "take", "axpy", "gmres", "factor", "solved", "newton", "weights", "begin", "retry",
             "combine", "moduli", "jacobian", "forget", "reasons"]
    mine = "#include <stdlib.h>\n" + "".join("void %s(void);\nvoid %s(void) { abort(); }\n" % (n, n) for n in names)
    with folder() as place:
        installed = Installed(place, "static")
        exe = os.path.join(place, "decay")
        flags = [f for f in installed.flags("--static", "--cflags", "--libs") if f != "-lcostate"]
        write(os.path.join(place, "mine.c"), mine)
        cc(example, os.path.join(place, "mine.c"), "-o", exe, os.path.join(installed.lib, "libcostate.a"), *flags)
        right(run(exe))


run_all(globals())
