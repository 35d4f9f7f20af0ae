"""What is installed, used as other projects do: pkg-config shared and static, CMake, C++; from a moved tree."""

import glob
import os
import re

from external import Installed, Skipped, build, cc, compiler, example, folder, needs, option, read, right, root, run, \
    run_all, unsanitized, write

CALLS = {"-lumfpack": "umfpack_di_symbolic", "-lcamd": "camd_order", "-lklu": "klu_factor", "-lsuperlu": "dgssvx",
         "-lopenblas": "zgbtrs_", "-llapack": "zgbtrs_"}         # one of each library below

LISTS = """project(outside C)
find_package(costate 2.0 REQUIRED)
foreach(kind costate costate_static)
  add_executable(by_${kind} decay.c)
  target_link_libraries(by_${kind} PRIVATE costate::${kind} m)
endforeach()
"""


def test_every_file_is_there():
    with folder() as place:
        i = Installed(place, "shared")
        wanted = [i.lib + "/libcostate.so.2", i.lib + "/pkgconfig/costate.pc",
                  i.lib + "/cmake/costate/costateConfig.cmake", i.lib + "/cmake/costate/costateConfigVersion.cmake",
                  i.lib + "/cmake/costate/costateAddModel.cmake",
                  *(i.include + "/costate/%s.h" % name for name in ("costate", "bvp", "ensemble",
                                                                       "linsol", "operators", "periodic", "pieces",
                                                                       "program", "steady")),
                  *(i.include + "/costate/%s.hpp" % name for name in ("costate", "problem", "numbers")),
                  i.share + "/man/man3/costate.3"]
        lost = [file for file in wanted if not os.path.exists(file)]
        assert not lost, lost
        libraries = glob.glob(i.lib + "/*")
        known = r"/(libcostate(_petsc)?\.(so|a)|pkgconfig$|cmake$)"
        strange = [file for file in libraries if not re.search(known, file)]
        assert not strange, strange


def test_headers_compile_as_cxx():
    """those installed: accuracy.h, bvp.h, ensemble.h, linsol.h, operators.h, periodic.h, pieces.h, program.h,
    steady.h, costate.hpp"""
    needs("c++")
    with folder() as place:
        installed = Installed(place, "shared", "static")
        run("c++", "-std=c++11", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-fsyntax-only",
            "-I" + installed.include, os.path.join(root, "tests", "packaging", "headers.cpp"))
        run("c++", "-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-fsyntax-only",
            "-I" + installed.include, os.path.join(root, "examples", "16_products.cpp"))


def test_pkg_config_shared():
    needs("pkg-config")
    with folder() as place:
        installed, exe = Installed(place, "shared"), os.path.join(place, "decay")
        flags = installed.flags("--cflags", "--libs")
        assert not [f for f in flags if not f.startswith(("-I" + place, "-L" + place)) and f != "-lcostate"], flags
        cc(example, "-o", exe, *flags, "-lm", "-Wl,-rpath," + installed.lib)
        right(run(exe))


def test_pkg_config_static():
    """libcostate.a, and the libraries below it as the system has them"""
    needs("pkg-config")
    with folder() as place:
        installed, exe = Installed(place, "static"), os.path.join(place, "decay")
        for shared in glob.glob(installed.lib + "/libcostate.so*"):
            os.remove(shared)
        cc(example, "-o", exe, *installed.flags("--static", "--cflags", "--libs"))
        right(run(exe))


def test_pkg_config_of_a_static_build():
    """default_library=static: where there is no shared library, programs need --static no more than for others"""
    needs("pkg-config", "meson")
    unsanitized()
    with folder() as place:
        installed, exe, made = Installed(place, "static"), os.path.join(place, "decay"), os.path.join(place, "made")
        for shared in glob.glob(installed.lib + "/libcostate.so*"):
            os.remove(shared)
        below = installed.flags("--static", "--libs")
        same = ["-D%s=%s" % (name, option(name)) for name in ("prefix", "libdir", "umfpack", "superlu", "klu")]
        less = ["-D%s=disabled" % name for name in ("tests", "lbfgs", "optimisers", "petsc")]
        run("meson", "setup", "-Ddefault_library=static", "-Dpython_package=false", *same, *less, made, root,
            env={"CC": " ".join(compiler)})
        os.replace(os.path.join(made, "meson-private", "costate.pc"), installed.lib + "/pkgconfig/costate.pc")
        for flags in (), ("--static",):
            assert set(installed.flags(*flags, "--libs")) == set(below), installed.flags(*flags, "--libs")
            cc(example, "-o", exe, *installed.flags(*flags, "--cflags", "--libs"))
            right(run(exe))


def test_pkg_config_fully_static():
    """nothing shared at all, where the system's static libraries are complete"""
    needs("pkg-config")
    unsanitized()
    with folder() as place:
        installed, exe = Installed(place, "static"), os.path.join(place, "decay")
        flags = installed.flags("--static", "--cflags", "--libs")
        below = [flag for flag in flags if flag != "-lcostate"]
        calls = [call for library, call in CALLS.items() if library in below]
        probe = write(os.path.join(place, "probe.c"), "".join("void %s(void);\n" % call for call in calls) +
                      "int main(void) { %s return 0; }\n" % "".join("%s();" % call for call in calls))
        try:
            cc("-static", probe, "-o", exe, *below)
        except AssertionError as reason:
            raise Skipped("the static libraries of the system do not link: " + str(reason).splitlines()[1]) from None
        cc("-static", example, "-o", exe, *flags)
        right(run(exe))


def configure(installed, text, made):
    """by CMake: a project that consists of this text; what it says"""
    source = made + ".source"
    write(os.path.join(source, "CMakeLists.txt"), "cmake_minimum_required(VERSION 3.16)\n" + text)
    write(os.path.join(source, "decay.c"), read("examples/01_decay.c"))
    return run("cmake", "-G", "Ninja", "-S", source, "-B", made, "-Dcostate_DIR=" + installed.lib + "/cmake/costate")


def test_cmake():
    """find_package(costate) of a tree elsewhere than it was built for: both targets"""
    needs("cmake", "ninja")
    unsanitized()
    with folder() as place:
        installed = Installed(os.path.join(place, "tree"))
        made = os.path.join(place, "made")
        said = configure(installed, LISTS, made)
        run("cmake", "--build", made)
        right(run(os.path.join(made, "by_costate")))
        assert "Warning" not in said, said
        for shared in glob.glob(installed.lib + "/libcostate.so*"):
            os.remove(shared)
        right(run(os.path.join(made, "by_costate_static")))


# one process, which needs no launcher
OVER_PROCESSES = """#include <costate/petsc.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
    double x = 4;
    MPI_Comm comm = PETSC_COMM_WORLD;
    int code = costate_petsc_sum(1, &x, &comm);
    printf("%d %g %d\\n", code, x, costate_method_count() > 0);
    return PetscFinalize() || code;
}
"""


def with_petsc(installed):
    if not os.path.exists(installed.include + "/costate/petsc.h"):
        raise Skipped("built without PETSc")
    found = run("pkg-config", "--libs", "costate-petsc", env={"PKG_CONFIG_PATH": installed.lib + "/pkgconfig"})
    assert "-lcostate_petsc" in found and "-lpetsc" in found, found


def test_pkg_config_petsc():
    needs("pkg-config")
    unsanitized()
    with folder() as place:
        installed, exe = Installed(place, "shared"), os.path.join(place, "over")
        with_petsc(installed)
        write(exe + ".c", OVER_PROCESSES)
        below = run("pkg-config", "--cflags", "--libs", "PETSc", "mpi-c").split()
        system = ["-isystem" + flag[2:] if flag.startswith("-I") else flag for flag in below]
        cc(exe + ".c", "-o", exe, "-I" + installed.include, "-L" + installed.lib, "-Wl,-rpath," + installed.lib,
           "-lcostate_petsc", "-lcostate", *system)
        assert "0 4 1" in run(exe).splitlines(), run(exe)           # beside what MPI says of the machine


def test_cmake_petsc():
    """find_package(costate COMPONENTS petsc)"""
    needs("cmake", "ninja", "pkg-config")
    unsanitized()
    with folder() as place:
        installed, made = Installed(os.path.join(place, "tree"), "shared"), os.path.join(place, "made")
        with_petsc(installed)
        write(os.path.join(place, "over.c"), OVER_PROCESSES)
        configure(installed, "project(outside C)\nfind_package(costate REQUIRED COMPONENTS petsc)\n"
                  "add_executable(over " + os.path.join(place, "over.c") + ")\n"
                  "target_link_libraries(over costate::petsc)\n", made)
        run("cmake", "--build", made)
        assert "0 4 1" in run(os.path.join(made, "over")).splitlines()


def test_cmake_versions():
    """2 and 2.0 find it; versions before it and after it are other libraries"""
    needs("cmake", "ninja")
    with folder() as place:
        installed = Installed(os.path.join(place, "tree"), "shared", "static")
        answers = {"": True, "2": True, "2.0": True, "2.0.0 EXACT": True, "1": False, "1.0": False, "2.9": False,
                   "3": False}
        for asked, found in answers.items():
            text = 'find_package(costate %s QUIET)\nmessage(STATUS "found=${costate_FOUND}")\n' % asked
            said = configure(installed, "project(outside NONE)\n" + text, os.path.join(place, "made-" + asked))
            assert ("found=1" in said) == found, "find_package(costate %s): %s" % (asked, said)


def test_pkg_config_knows_the_version():
    needs("pkg-config")
    with folder() as place:
        version = re.search(r'#define COSTATE_VERSION "([^"]*)"', read("include/costate/costate.h")).group(1)
        assert Installed(place, "shared", "static").flags("--modversion") == [version]


def test_no_path_of_the_build_is_installed():
    """in what other projects read"""
    with folder() as place:
        i = Installed(place, "shared", "static")
        texts = (i.lib + "/pkgconfig/*", i.lib + "/cmake/costate/*", i.share + "/man/man3/*")
        for file in [file for pattern in texts for file in glob.glob(pattern)]:
            with open(file, encoding="utf-8") as text:
                found = text.read()
            assert root not in found and build not in found, file
            prefix = option("prefix")
            lines = [line for line in found.splitlines() if prefix in line and not line.startswith("prefix=")]
            assert not lines, "%s: %s" % (file, lines)


run_all(globals())
