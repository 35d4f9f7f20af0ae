"""The rooms of the house (CONVENTIONS.md): no file reaches into a later room, and no files need each other in a circle.

    test_rooms.py SOURCE BUILD [CC...]             reports in the format of cmocka
    test_rooms.py SOURCE BUILD --list              what each room takes from which

It reads the include lines of src and the symbols of the object files, those of libcostate_petsc included: what a file
defines for others, and what it needs of them.  That the checks find what they are for is tested on trees made up here,
built by CC (cc)."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from cases import Skipped, run_all  # noqa: E402
from objects import LIBRARY, PETSC, Library, circles, families  # noqa: E402

source, build = sys.argv[1:3]
compiler = [x for x in sys.argv[3:] if x != "--list"] or ["cc"]

# A room may use those before it; the families are side by side and know nothing of each other.
ROOMS = ["base", "maps", "linsol", "start", "step", "irk", families(source), "tape", "ops", "solver", "choice",
         "run", "sweeps", "estimates", "checks", "calls", "bvp", "steady", "periodic", "lanes", "ensemble",
         "operators", "pieces", "program"]
PLACE = {name: k for k, names in enumerate(ROOMS) for name in ([names] if isinstance(names, str) else names)}
BESIDE = {"petsc"}                              # a library of its own: it uses no room, and no room uses it
MADE = {"methods.c": "step"}                    # by codegen: the descriptors

house = Library(source, build)


# ---- the checks: lists of what is wrong --------------------------------------------------------------------------

def room(path):
    return MADE.get(path) or (path.split("/")[0] if "/" in path else "")


def in_no_room(library):
    return [path for path in library.files() if room(path) not in PLACE and room(path) not in BESIDE]


def may(user, used):
    a, b = room(user), room(used)
    return a == b or a in PLACE and b in PLACE and PLACE[b] < PLACE[a]


def reaching(graph, verb):
    return ["%s %s %s" % (a, verb, b) for a in sorted(graph) for b in sorted(graph[a]) if not may(a, b)]


def includes_later(library):
    return reaching(library.includes()[0], "includes")


def included_from_nowhere(library):
    """What is found by some -I alone escapes the checks."""
    return ["%s includes %s, neither beside it nor in src" % pair for pair in library.includes()[1]]


def calls_later(library):
    return reaching(library.needs(), "needs")


def in_circles(library):
    return [" ".join(part) for graph in (library.includes()[0], library.needs()) for part in circles(graph)]


# ---- the library -------------------------------------------------------------------------------------------------

def none(wrong):
    assert not wrong, "%d: %s" % (len(wrong), "; ".join(wrong))


def with_symbols():
    if not os.path.isdir(house.folder):
        raise Skipped("no object files in %s" % house.folder)
    try:
        seen = any(defined for defined, _ in house.symbols().values())
    except subprocess.CalledProcessError:
        seen = False
    if not seen:
        raise Skipped("nm reads no symbols from these object files (link-time optimisation?)")


def test_every_file_is_in_a_room():
    none(in_no_room(house))


def test_no_room_includes_a_later_one():
    none(includes_later(house))


def test_all_includes_are_seen():
    none(included_from_nowhere(house))


def test_no_room_calls_a_later_one():
    with_symbols()
    none(calls_later(house))


def test_every_source_has_its_object():
    """None is left out of the checks; backends that are not there have none."""
    with_symbols()
    optional = {"linsol/%s.c" % x for x in ("umfpack", "superlu", "klu", "triangles", "dissect", "builtin")}
    beside = set() if any(x.endswith(PETSC) for x in house.folders) else BESIDE
    ours = {x for x in house.files() if x.endswith(".c") and room(x) not in beside}
    none(sorted(ours - set(house.symbols()) - optional))


def test_no_circle():
    with_symbols()
    none(in_circles(house))


# ---- the checks themselves ---------------------------------------------------------------------------------------

GOOD = {"base/vec.c": "double dot(double x) { return x; }\n",
        "base/vec.h": "double dot(double);\n",
        "step/step.h": '#include "base/vec.h"\ndouble step(double);\n',
        "step/step.c": '#include "step.h"\nint code;\ndouble step(double x) { return dot(x); }\n',
        "erk/forward.c": '#include "step/step.h"\ndouble erk(double x) { return step(x); }\n',
        "ros/forward.c": '#include "step/step.h"\ndouble ros(double x) { return step(x); }\n',
        "run/run.c": '#include "step/step.h"\ndouble erk(double);\ndouble run(double x) { return erk(x); }\n'}


objects_made = {}


def made_object(src, path, files, to):
    """the object file of a source; the same sources and headers are compiled once"""
    key = path, tuple(sorted((x, text) for x, text in files.items() if x == path or x.endswith(".h")))
    if key not in objects_made:
        subprocess.run(compiler + ["-c", "-I", src, os.path.join(src, path), "-o", to], check=True)
        with open(to, "rb") as file:
            objects_made[key] = file.read()
    with open(to, "wb") as file:
        file.write(objects_made[key])


def findings(**changes):
    """What each check finds in GOOD with these files changed (__ for /, _c for .c)."""
    files = dict(GOOD, **{name.replace("__", "/")[:-2] + "." + name[-1]: text for name, text in changes.items()})
    with tempfile.TemporaryDirectory() as place:
        src = os.path.join(place, "src")
        folders = {path: PETSC if path.startswith("petsc/") else LIBRARY for path in files if path.endswith(".c")}
        for folder in set(folders.values()):
            os.mkdir(os.path.join(place, folder))
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(src, path)), exist_ok=True)
            with open(os.path.join(src, path), "w", encoding="utf-8") as file:
                file.write(text)
        for path, folder in folders.items():
            made_object(src, path, files, os.path.join(place, folder, "src_" + path.replace("/", "_") + ".o"))
        made = Library(place, place)
        checks = in_no_room, includes_later, included_from_nowhere, calls_later, in_circles
        return {check.__name__: check(made) for check in checks if check(made)}


def found(expected, **changes):
    seen = findings(**changes)
    assert seen == expected, seen


def test_a_good_tree_passes():
    found({})


def test_a_later_include_is_found():
    found({"includes_later": ["base/vec.c includes step/step.h"]},
          base__vec_c='#include "step/step.h"\n' + GOOD["base/vec.c"])
    found({"includes_later": ["base/vec.c includes step/step.h"]},                    # not hidden by < > and blanks
          base__vec_c=' #  include <step/step.h>\n' + GOOD["base/vec.c"])


def test_a_later_call_is_found():
    found({"calls_later": ["base/vec.c needs run/run.c"]},
          base__vec_c=GOOD["base/vec.c"] + "double run(double);\ndouble up(double x) { return run(x); }\n",
          step__step_c="double step(double x) { return x; }\n")


def test_a_later_variable_is_found():
    found({"calls_later": ["maps/maps.c needs step/step.c"]},
          maps__maps_c="extern int code;\nint f(void) { return code; }\n")


def test_a_call_of_another_family_is_found():
    found({"calls_later": ["ros/forward.c needs erk/forward.c"]},
          ros__forward_c="double erk(double);\ndouble ros(double x) { return erk(x); }\n")


def test_a_circle_is_found():
    """Within a room, where no other check would: of three object files; of two headers."""
    call = "int f%d(void);\nint f%d(void) { return f%d(); }\n"
    found({"in_circles": ["tape/a.c tape/b.c tape/c.c"]},
          tape__a_c=call % (2, 1, 2), tape__b_c=call % (3, 2, 3), tape__c_c=call % (1, 3, 1))
    found({"in_circles": ["petsc/a.c petsc/b.c"]}, petsc__a_c=call % (2, 1, 2), petsc__b_c=call % (1, 2, 1))
    found({"in_circles": ["tape/a.h tape/b.h"]}, tape__a_h='#include "b.h"\n', tape__b_h='#include "a.h"\n')


def test_a_file_in_no_room_is_found():
    found({"in_no_room": ["hall/x.c"]}, hall__x_c="int x;\n")


def test_a_library_beside_stays_beside():
    """what it includes or calls of a room, and what a room includes of it"""
    found({"calls_later": ["petsc/sum.c needs base/vec.c"]},
          petsc__sum_c="double dot(double);\ndouble sum(double x) { return dot(x); }\n")
    found({"includes_later": ["petsc/sum.c includes base/vec.h"]}, petsc__sum_c='#include "base/vec.h"\n')
    found({"includes_later": ["run/run.h includes petsc/sum.h"]}, petsc__sum_h="int sum;\n",
          run__run_h='#include "petsc/sum.h"\n')


def test_an_include_that_is_not_followed_is_found():
    """as with -Isrc/step, which lets step.h be included by its last name from anywhere"""
    found({"included_from_nowhere": ["run/run.h includes step.h, neither beside it nor in src"]},
          run__run_h='#include "step.h"\n')


# ---- --list ------------------------------------------------------------------------------------------------------

def listing():
    for verb, graph in (("includes", house.includes()[0]), ("calls", house.needs())):
        for user in PLACE:
            used = {room(b) for a in graph if room(a) == user for b in graph[a]} - {user}
            if used:
                print("%-6s %-8s %s" % (user, verb, " ".join(sorted(used, key=lambda x: PLACE.get(x, -1)))))


if __name__ == "__main__":
    if "--list" in sys.argv[3:]:
        listing()
    else:
        run_all(globals())
