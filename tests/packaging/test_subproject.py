"""As a Meson subproject costate needs no word from the user: dependency('costate') finds it, default_library is
followed, neither tests nor examples are built, and nothing is installed but what the project's programs need."""

import json
import os

from external import Skipped, compiler, folder, needs, read, right, root, run, run_all, unsanitized, write

PARENT = """project('outside', 'c', default_options: ['buildtype=plain', 'default_library=%s'])
m = meson.get_compiler('c').find_library('m')
executable('usual', 'decay.c', dependencies: [dependency('costate', version: '>= 2.0'), m], install: true)
executable('other', 'decay.c', dependencies: [dependency('costate', static: %s), m])
"""


def project(place, kind, other, *options):
    """configured; where, and what it would build by default and install"""
    needs("meson", "ninja")
    outside, made = os.path.join(place, "outside"), os.path.join(place, "made")
    write(os.path.join(outside, "meson.build"), PARENT % (kind, other))
    write(os.path.join(outside, "decay.c"), read("examples/01_decay.c"))
    os.makedirs(os.path.join(outside, "subprojects"), exist_ok=True)
    os.symlink(root, os.path.join(outside, "subprojects", "costate"))
    # not what is installed on this machine
    run("meson", "setup", "--wrap-mode=forcefallback", *options, made, outside, env={"CC": " ".join(compiler)})
    targets = json.loads(run("meson", "introspect", "--targets", made))
    built = sorted(os.path.basename(t["filename"][0]) for t in targets if t["build_by_default"])
    installed = json.loads(run("meson", "introspect", "--installed", made))
    return made, built, sorted(os.path.basename(file) for file in installed.values())


def test_shared():
    with folder() as place:
        _, built, installed = project(place, "shared", "true")
    assert [b for b in built if ".so" in b] and not [b for b in built if b.endswith(".a")], built
    assert not [b for b in built if b.startswith(("test_", "swe", "race", "0"))], built
    assert [i for i in installed if i != "usual" and not i.startswith("libcostate.so")] == [], installed
    assert [i for i in installed if i.startswith("libcostate.so")], "the program would miss its library"


def test_static():
    with folder() as place:
        _, built, installed = project(place, "static", "false")
    assert "libcostate.a" in built and not [b for b in built if ".so" in b], built
    assert not [b for b in built if b.startswith(("test_", "swe", "race", "0"))], built
    assert installed == ["usual"], installed


def test_both_link_and_run():
    """shared is the usual one; the static one on request"""
    unsanitized()
    if os.environ.get("COSTATE_TESTS") != "all":
        raise Skipped("it builds the library once more: ./run test all")
    with folder() as place:
        made, built, _ = project(place, "both", "true", "-Dcostate:optimization=0")
        assert "libcostate.a" in built and [b for b in built if ".so" in b], built
        run("ninja", "-C", made)
        for name, shared in (("usual", True), ("other", False)):
            exe = os.path.join(made, name)
            right(run(exe))
            assert ("libcostate" in run("readelf", "-d", exe)) == shared, name


run_all(globals())
