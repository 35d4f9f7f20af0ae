"""What is installed, used as other projects do: pkg-config shared and static, CMake, C++; from a tree that was moved."""

import glob
import os
import re

from external import Installed, Skipped, build, cc, example, folder, needs, option, read, right, root, run, run_all, \
    unsanitized, write

LISTS = """cmake_minimum_required(VERSION 3.16)
project(outside C)
find_package(costate 0.1 REQUIRED)
foreach(kind costate costate_static)
  add_executable(by_${kind} decay.c)
  target_link_libraries(by_${kind} PRIVATE costate::${kind} m)
endforeach()
"""


def test_every_file_is_there():
    with folder() as place:
        i = Installed(place, "shared")
        wanted = [i.lib + "/libcostate.so.0", i.lib + "/pkgconfig/costate.pc", i.lib + "/cmake/costate/costateConfig.cmake",
                  i.lib + "/cmake/costate/costateConfigVersion.cmake", i.include + "/costate/costate.h",
                  i.include + "/costate/linsol.h", i.share + "/man/man3/costate.3"]
        lost = [file for file in wanted if not os.path.exists(file)]
        assert not lost, lost
        libraries = glob.glob(i.lib + "/*")
        strange = [file for file in libraries if not re.search(r"/(libcostate\.(so|a)|pkgconfig$|cmake$)", file)]
        assert not strange, strange


def test_headers_compile_as_cxx():
    """the installed ones, linsol.h, too"""
    needs("c++")
    with folder() as place:
        installed = Installed(place, "shared", "static")
        run("c++", "-std=c++11", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", "-fsyntax-only",
            "-I" + installed.include, os.path.join(root, "tests", "headers.cpp"))


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


def test_pkg_config_fully_static():
    """nothing shared at all, where the system has every library in this form"""
    needs("pkg-config")
    unsanitized()
    with folder() as place:
        installed, exe = Installed(place, "static"), os.path.join(place, "decay")
        flags = installed.flags("--static", "--cflags", "--libs")
        probe = write(os.path.join(place, "probe.c"), "int main(void) { return 0; }\n")
        for flag in flags:
            if flag.startswith("-l") and flag != "-lcostate":
                try:
                    cc(probe, "-static", "-o", exe, flag, "-Wl,--unresolved-symbols=ignore-all")
                except AssertionError:
                    raise Skipped("there is no static library for " + flag) from None
        cc("-static", example, "-o", exe, *flags)
        right(run(exe))


def test_cmake():
    """find_package(costate) of a tree elsewhere than it was built for: both targets"""
    needs("cmake")
    unsanitized()
    with folder() as place:
        installed = Installed(os.path.join(place, "tree"))
        write(os.path.join(place, "outside", "CMakeLists.txt"), LISTS)
        write(os.path.join(place, "outside", "decay.c"), read("examples/01_decay.c"))
        made = os.path.join(place, "made")
        said = run("cmake", "-S", os.path.join(place, "outside"), "-B", made, "-Dcostate_DIR=" + installed.lib + "/cmake/costate")
        run("cmake", "--build", made)
        right(run(os.path.join(made, "by_costate")))
        assert "Warning" not in said, said
        for shared in glob.glob(installed.lib + "/libcostate.so*"):
            os.remove(shared)
        right(run(os.path.join(made, "by_costate_static")))


def test_cmake_versions():
    """0.1 is asked for and got; 0.0, 0.2 and 1 are other libraries"""
    needs("cmake")
    with folder() as place:
        installed = Installed(os.path.join(place, "tree"), "shared", "static")
        for asked, found in (("0.1", True), ("0.1.0 EXACT", True), ("", True), ("0.0", False), ("0.2", False), ("1", False)):
            write(os.path.join(place, "outside", "CMakeLists.txt"), "cmake_minimum_required(VERSION 3.16)\nproject(o NONE)\n"
                  "find_package(costate %s QUIET)\nmessage(STATUS \"found=${costate_FOUND}\")\n" % asked)
            said = run("cmake", "-S", os.path.join(place, "outside"), "-B", os.path.join(place, "made" + asked.replace(" ", "")),
                       "-Dcostate_DIR=" + installed.lib + "/cmake/costate")
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
        for file in glob.glob(i.lib + "/pkgconfig/*") + glob.glob(i.lib + "/cmake/costate/*") + glob.glob(i.share + "/man/man3/*"):
            with open(file, encoding="utf-8") as text:
                found = text.read()
            assert root not in found and build not in found, file
            prefix = option("prefix")
            lines = [line for line in found.splitlines() if prefix in line and not line.startswith("prefix=")]
            assert not lines, "%s: %s" % (file, lines)


run_all(globals())
