"""grids.py SOURCE BUILD SANITIZE COMPILER...: models on grids are right at all sizes from the least on.

costate checks their maps, Jacobians and whole runs with an explicit, a Rosenbrock and an implicit method; two models
are compared with the same problems written by hand.  Reports in the format of cmocka."""
import glob
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import FLAGS, build, compiler, need_library, root, run  # noqa: E402

from cases import run_all  # noqa: E402
from codegen.equations import c_file, read  # noqa: E402

HERE = os.path.join(root, "tests", "models")
OPTIMIZE = ["-O1", "-ffp-contract=off"]

# sizes: the first is one less than the least in some axis, where there is one
SIZES = {"line": [(1,), (2,), (3,), (4,), (5,), (11,)], "plane": [(2, 3), (3, 1), (3, 2), (5, 6)],
         "corner": [(3, 2), (1, 3), (2, 3), (6, 7)], "walls": [(1, 3), (2, 2), (2, 3), (3, 4), (6, 7)],
         "space": [(1, 2, 1), (1, 3, 1), (2, 3, 2), (3, 4, 5)], "torus": [(2,), (3,), (5,)], "alone": [(0,)],
         "still": [(0,), (1,), (4,)], "modes": [(0,), (1,), (4,)],
         "names": [(3, 2), (1, 3), (2, 4)], "front": [(0,), (1,), (2,), (6,)], "source": [(2,), (3,), (4,), (7,)],
         "brusselator": [(2,), (3,), (4,), (7,)], "heat": [(0,), (1,), (2,), (3,), (9,)],
         "shallow_water": [(5, 4), (5, 5), (6, 8)], "exchange": [(0, 3), (1, 3), (2, 3), (5, 6)],
         "beam": [(1,), (2,), (3,), (8,)], "box": [(2, 1), (3, 1), (4, 3)]}
FITS = {"alone"}                                 # models of a fixed size: all sizes given are ignored
FLAGS_OF = {"shallow_water": ["-DSCALE=0.02", "-DLIFT=40"]}          # velocities that stay positive: no kinks


def file_of(name):
    found, = [f for folder in (os.path.join(root, "models"), os.path.join(HERE, "grids"))
              for f in glob.glob(os.path.join(folder, name + ".eq"))]
    return found


def generated(place, name):
    """The C file of a model, and what the driver must know of it"""
    model = read.read(file_of(name))
    code, header, about = c_file.write(model, name + ".eq")
    for end, text in ((".c", code), (".h", header)):
        with open(os.path.join(place, name + end), "w", encoding="utf-8") as f:
            f.write(text)
    sizes = ", ".join("size[%d]" % k for k in range(len(model.sizes)))
    return ["-DHEADER=\"%s.h\"" % name, "-DNAME=%s" % name, "-DSIZES=%s" % sizes] + \
        ["-DDEFAULTS"] * bool(model.parameters) + \
        ["-DSPLITTING"] * ("no_splitting" not in about) + FLAGS_OF.get(name, [])


def built(place, name, sources, *flags):
    need_library()
    exe, objects = os.path.join(place, name), []
    for k, source in enumerate(sources):
        objects.append(os.path.join(place, "%s%d.o" % (name, k)))
        run(*compiler, *FLAGS, *OPTIMIZE, *flags, "-I", place, "-c", source, "-o", objects[-1])
    run(*compiler, *FLAGS, *objects, "-L" + build, "-lcostate", "-lm", "-o", exe)
    return exe


def checked(name):
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        flags = generated(place, name)
        exe = built(place, name, [os.path.join(place, name + ".c"), os.path.join(HERE, "grid_driver.c")], *flags)
        for k, sizes in enumerate(SIZES[name]):
            refused = k == 0 and name not in FITS
            run(exe, "refused" if refused else "right", *map(str, sizes))


def test_hand_written():
    """The same values, products and patterns as problems/grid.c and problems/swe.c"""
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        sources = [os.path.join(HERE, "grid_against_hand.c")]
        for name in ("brusselator", "shallow_water"):
            generated(place, name)
            sources.append(os.path.join(place, name + ".c"))
        problems = os.path.join(root, "problems")
        sources += [os.path.join(problems, name) for name in ("grid.c", "swe.c")]
        run(built(place, "hand", sources, "-I", problems))


def test_memory():
    """Each allocation of a model fails once"""
    for name in ("names", "exchange"):
        memory_of(name)


def memory_of(name):
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        flags = generated(place, name)
        sources = [os.path.join(HERE, "grid_memory.c"), os.path.join(place, name + ".c")]
        with open(sources[1], encoding="utf-8") as f:
            text = re.sub(r"\b([mc]alloc)\(", r"failing_\1(", f.read())
        with open(sources[1], "w", encoding="utf-8") as f:
            f.write("#include <stddef.h>\nvoid *failing_malloc(size_t bytes);\n"
                    "void *failing_calloc(size_t count, size_t size);\n" + text)
        run(built(place, "memory", sources, *flags))


for name_ in SIZES:
    globals()["test_" + name_] = lambda name=name_: checked(name)

run_all(globals())
