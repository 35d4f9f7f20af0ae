"""costate.c, the library in one file: it is made from the sources that the build compiles, compiles without warnings,
shows only public names, and computes the bits that the library computes.

Names that several files have for themselves are told apart by tokens: the last tests join small files."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from external import (answer, build, compiler, example, folder, needs, read, right, root, run, run_all,  # noqa: E402
                      unsanitized, write)

sys.path.insert(0, os.path.join(root, "packaging", "single"))
from join import Joined, Refused  # noqa: E402

ALL = os.environ.get("COSTATE_TESTS") == "all"
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
made = tempfile.TemporaryDirectory()
PLACE = made.name


def single(place, *names):
    """writes costate.c; what the build has derived is not derived again"""
    run(sys.executable, os.path.join(root, "packaging", "single"), place, *names,
        env={"COSTATE_CHECKED": os.path.join(build, "methods.checked")})


def cc(*arguments):
    run(*compiler, *STRICT, *arguments, cwd=PLACE)


def test_it_is_made_and_compiles_without_warnings():
    """slowly, as optimised code only where all tests are run"""
    single(PLACE)
    cc("-O2" if ALL else "-O0", "-c", "costate.c", "-o", "costate.o")


def test_its_sources_are_those_of_the_build():
    """but for the solvers that are other libraries, and the code for several members side by side"""
    needs("meson")
    targets = json.loads(run("meson", "introspect", "--targets", build))
    compiled = {os.path.relpath(path, root) for target in targets if target["name"] == "costate-inside"
                for group in target["target_sources"] for path in group.get("sources", [])}
    others = {f"src/linsol/{name}.c" for name in ("umfpack", "triangles", "dissect", "superlu", "klu")}
    joined = {"src/" + path for path in re.findall(r"^/\* ==== (.*) ==== \*/$", read(f"{PLACE}/costate.c"), re.M)}
    assert compiled - others | {"src/linsol/builtin.c"} == joined - {"src/methods.c"}, (compiled - others) ^ joined


def test_only_public_names():
    needs("nm")
    names = [line.split()[2] for line in run("nm", "-g", "--defined-only", f"{PLACE}/costate.o").splitlines()]
    assert len(names) > 100 and not [x for x in names if not x.startswith("costate_")], names


def test_example_links_with_the_mathematical_library_alone():
    write(f"{PLACE}/decay.c", read(example).replace("<costate/costate.h>", '"costate.h"'))
    cc("decay.c", "costate.o", "-o", "decay", "-lm")
    right(run(f"{PLACE}/decay"))
    assert answer in run(f"{PLACE}/decay")


def test_examples():
    """they compare their numbers: a DAE, events, boundary values, an ensemble in threads, a tape in a file"""
    for name in ("09_robertson_dae", "12_bouncing_ball", "19_pendulum_bvp", "24_ensemble", "26_resume"):
        source = os.path.join(root, "examples", name + ".c")
        run(*compiler, "-std=c11", "-D_GNU_SOURCE", f"-I{PLACE}", f"-I{root}/problems", source,
            f"{PLACE}/costate.o", "-o", f"{PLACE}/example", "-lm", "-pthread")
        run(f"{PLACE}/example", cwd=PLACE)


def problems():
    """the sources of problems/ that are in the library of tests"""
    listed = re.search(r"static_library\('problems',(.*?)dependencies", read("problems/meson.build"), re.S)[1]
    return [os.path.join(root, "problems", name) for name in re.findall(r"'([^']+\.c)'", listed)]


def test_same_bits_as_the_library():
    """70 problems, a method of each kind.  A build with LAPACK of another library solves only small systems with
    costate's own routines: there only those problems are compared."""
    unsanitized()
    found = run("meson", "introspect", "--buildoptions", build)
    builtin = {x["name"]: x["value"] for x in json.loads(found)}["lapack"] == "builtin"
    flags = ["-std=c11", "-O1", "-ffp-contract=off", f"-I{root}/problems"]
    source = os.path.join(root, "tests", "house", "gradients.c")
    for name, place, more in (("one", PLACE, [f"{PLACE}/costate.o", "-lm"]),
                              ("library", f"{root}/include", ["-L", build, "-lcostate", f"-Wl,-rpath,{build}", "-lm"])):
        run(*compiler, *flags, f"-I{place}", source, *problems(), *more, "-o", f"{PLACE}/{name}")
    one, library = (run(f"{PLACE}/{name}").splitlines() for name in ("one", "library"))
    assert len(one) == len(library) > 400
    large = ("brusselator", "heat", "diffusion", "hires", "pollu")      # solved by what is linked
    differ = [(a, b) for a, b in zip(one, library) if a != b and (builtin or not a.startswith(large))]
    assert not differ, differ[:5]
    assert len([x for x in one if re.search(r": 0 \d+ ", x)]) > 400, "most runs succeed"


def test_model_of_an_equation_file():
    write(f"{PLACE}/law.eq", "model law\nparameter k = 3\nstate y = 2\n\ny' = -k*y\n")
    run(sys.executable, "-m", "codegen", "model", f"{PLACE}/law.eq", "-o", f"{PLACE}/law.c",
        env={"PYTHONPATH": root, "PYTHONDONTWRITEBYTECODE": "1"}, cwd=root)
    write(f"{PLACE}/use.c", """#include <stdio.h>
#include "law.h"
int main(void)
{
    double y = 2, k = 3, lambda = 1, mu = 0;
    costate_options o = {.rtol = 1e-9, .atol = 1e-9};
    costate *c = costate_new(NULL, law_problem(), &o);
    costate_tape *tape = costate_tape_new();
    int status = costate_integrate(c, 0, 1, &y, &k, tape);
    if (!status) status = costate_adjoint(c, tape, 1, &lambda, &mu, NULL, NULL);
    printf("%.7f %.7f\\n", y, mu);
    costate_tape_free(tape);
    costate_free(c);
    return status;
}
""")
    cc("-I.", "use.c", "law.c", "costate.o", "-o", "use", "-lm")
    assert run(f"{PLACE}/use") == "0.0995741 -0.0995741\n"


def test_header_in_cpp():
    """the file is C; its header serves C++"""
    needs("c++")
    write(f"{PLACE}/use.cpp", """#include "costate/costate.hpp"
#include "costate.h"
int main() { return costate_method_find("rodas5p") ? 0 : 1; }
""")
    run("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"{PLACE}/use.cpp", f"{PLACE}/costate.o", "-o",
        f"{PLACE}/use_cpp", "-lm", "-pthread")
    run(f"{PLACE}/use_cpp")


def test_chosen_methods():
    """with the members of composite ones"""
    with folder() as place:
        single(place, "radau", "bs32")
        text = read(os.path.join(place, "costate.c"))
        assert len(text) < 0.7 * len(read(f"{PLACE}/costate.c"))
        names = re.findall(r"^    &method_(\w+),$", text, re.M)
        assert sorted(names) == ["bs32", "radau", "radau2a", "radau2a5", "radau2a7"], names
        failed = subprocess.run([sys.executable, os.path.join(root, "packaging", "single"), place, "no_such"],
                                text=True, stderr=subprocess.PIPE)
        assert failed.returncode and "there is no method no_such" in failed.stderr, failed.stderr


def test_cmake():
    """by FetchContent, with a model, in both forms of target_link_libraries; costate.c is written at configure time"""
    needs("cmake", "ninja")
    unsanitized()
    with folder() as place:
        write(f"{place}/CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.16)
project(outside LANGUAGES C)
include(FetchContent)
FetchContent_Declare(costate SOURCE_DIR "{root}")
FetchContent_MakeAvailable(costate)
add_executable(use use.c)
costate_add_model(use law.eq)
target_link_libraries(use costate::costate)
add_executable(keyword use.c)
costate_add_model(keyword law.eq)
target_link_libraries(keyword PRIVATE costate::costate)
""")
        for name in ("use.c", "law.eq"):
            write(f"{place}/{name}", read(f"{PLACE}/{name}").replace("(NULL, law", '(costate_method_find("bs32"), law'))
        made = ["cmake", "-G", "Ninja", "-S", place, "-B", f"{place}/made", "-DCMAKE_BUILD_TYPE=Debug"]
        run(*made, "-DCOSTATE_METHODS=bs32", env={"CC": " ".join(compiler)})
        run("cmake", "--build", f"{place}/made")
        for name in ("use", "keyword"):
            assert run(f"{place}/made/{name}") == "0.0995741 -0.0995741\n"
        run(*made)
        assert "no work to do" in run("cmake", "--build", f"{place}/made"), "costate.c would be compiled again"
        run(*made, f"-DCOSTATE_SINGLE={PLACE}", "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON")


# ---- names ----------------------------------------------------------------------------------------------------

HEADER = """#ifndef COSTATE_ROOM_SHARED_H
#define COSTATE_ROOM_SHARED_H
typedef struct { int solve, scale; } numbers;
extern const int table[];
int first(void);
int second(void);
#define BOTH(x) (helper(x) + 1)
#endif
"""
FIRST = """#define _GNU_SOURCE
#include <stdio.h>
#include "room/shared.h"
#define LIMIT 3
enum { SMALL = 2, LARGE };
typedef struct { int solve; } pair;
struct part { int a; };
const int table[] = {40, 2};
static int scale = SMALL;
static int helper(int x) { return x * 10; }
static int solve(int x) { return x + LIMIT; }
int first(void)
{
    numbers n = {.solve = 4, .scale = 5};
    const numbers *at = &n;
    pair p = {.solve = 6};
    struct part q = {7};
    goto scale;             /* a label has a name space of its own: solve */
scale:
    puts("solve");
    return solve(n.solve) + at->scale + p.solve + q.a + scale + BOTH(1) + LARGE;   /* 7 + 5 + 6 + 7 + 2 + 11 + 3 */
}
"""
SECOND = """#include "room/shared.h"
#define LIMIT 30
enum { SMALL = 20, LARGE };
typedef struct { double solve; } pair;
struct part { double a; };
static int scale = SMALL;
static int helper(int x) { return x * 100; }
static int solve(int x) { return x + LIMIT; }
int second(void)
{
    pair p = {.solve = 6};
    struct part q = {7};
    /* 31 + 6 + 7 + 20 + 101 + 21 + 40 */
    return solve(1) + (int)p.solve + (int)q.a + scale + BOTH(1) + LARGE + table[0];
}
"""
MAIN = """
int main(void)
{
#ifdef LIMIT
    return 1;
#endif
    printf("%d %d\\n", first(), second());
    return 0;
}
"""


def test_names_of_files_are_made_different():
    text = Joined({"room/first.c": FIRST, "room/second.c": SECOND}, {"room/shared.h": HEADER}).all()
    with folder() as place:
        write(os.path.join(place, "joined.c"), "#define COSTATE_PRIVATE static\n" + text + MAIN)
        run(*compiler, *STRICT, "-pedantic", os.path.join(place, "joined.c"), "-o", os.path.join(place, "joined"))
        assert run(os.path.join(place, "joined")) == "solve\n41 226\n"
    assert "of its own: solve */" in text and "_GNU_SOURCE" not in text
    assert text.count("typedef struct { int solve, s") == 1


def test_macro_of_a_header_that_a_file_does_not_include():
    other = "int third(void);\nint third(void) { int BOTH = 1; return BOTH; }\n"
    try:
        Joined({"room/first.c": FIRST, "room/third.c": other}, {"room/shared.h": HEADER}).all()
    except Refused as fault:
        assert "room/third.c uses BOTH, a macro of room/shared.h" in str(fault), fault
    else:
        raise AssertionError("a macro would change the meaning of a file")


run_all(globals())
