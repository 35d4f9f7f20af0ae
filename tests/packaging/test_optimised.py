"""The library is compiled with -O3 by every build that does not wish for less: as compile_commands.json says, of builds
of another project that are configured, but not made, and of the build under test."""

import json
import os
import re

from external import Skipped, build, folder, needs, option, root, run, run_all, write

PARENT = "project('outside', 'c', default_options: ['buildtype=plain'])\ndependency('costate')\n"
# A plain build of what needs the least time to configure.
FEW = ["-Dcostate:" + name + "=disabled" for name in ("umfpack", "superlu", "klu", "petsc")]
WANTED = "-O3"
# Builds that are configured one after the other in one place, which saves time: CFLAGS, then what a user says and the
# level that the compiler follows, which is its last -O.
BUILDS = [
    ("-g -O2 -Wall", [("buildtype=plain", WANTED)]),                                # packages of distributions
    ("", [("buildtype=debugoptimized", WANTED), ("buildtype=debug", "-O0")]),
]
FURTHER = [
    ("-g -O0", [("buildtype=plain", "-O0")]),                                       # DEB_BUILD_OPTIONS=noopt
    ("", [("buildtype=minsize", "-Os"), ("buildtype=release", WANTED), ("buildtype=plain", WANTED)]),
    ("", [("buildtype=debugoptimized b_coverage=true", "-O2")]),
    ("", [("buildtype=debugoptimized b_sanitize=address", "-O2")]),
]


def levels(made):
    """{last -O of the command or None: files} of the sources of libcostate and libcostate_petsc in this build"""
    with open(os.path.join(made, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    found = {}
    for one in commands:
        if re.search(r"libcostate-(petsc-)?inside\.a\.p", one["output"]):
            words = re.findall(r" (-O\S*)", one["command"])
            found.setdefault(words[-1] if words else None, []).append(one["file"])
    assert sum(map(len, found.values())) > 150, found
    return {level: "%d files, %s" % (len(files), files[0]) for level, files in found.items()}


def configured(groups):
    needs("meson", "ninja")
    with folder() as place:
        outside = os.path.join(place, "outside")
        write(os.path.join(outside, "meson.build"), PARENT)
        os.makedirs(os.path.join(outside, "subprojects"))
        os.symlink(root, os.path.join(outside, "subprojects", "costate"))
        for number, (cflags, builds) in enumerate(groups):
            made, again = os.path.join(place, "made-%d" % number), []
            for options, level in builds:
                run("meson", "setup", "--wrap-mode=forcefallback", *again, *("-D" + word for word in options.split()),
                    *FEW, made, outside, env={"CFLAGS": cflags})
                found = levels(made)
                assert set(found) == {level}, "%s, CFLAGS='%s': %s wanted, found %s" % (options, cflags, level, found)
                again = ["--reconfigure"]


def test_builds_of_other_projects():
    configured(BUILDS)


def test_further_builds_of_other_projects():
    if os.environ.get("COSTATE_TESTS") != "all":
        raise Skipped("four more builds are configured by ./run test all")
    configured(FURTHER)


def test_this_build():
    lower = {"0": "-O0", "g": "-Og", "1": "-O1", "s": "-Os"}
    if option("c_args") or option("b_coverage"):
        raise Skipped("CFLAGS or a coverage were asked for")
    found, wanted = levels(build), lower.get(option("optimization"), WANTED)
    assert set(found) == {wanted}, "%s wanted, found %s" % (wanted, found)


run_all(globals())
