"""The installed command costate-model: from a file of equations to a program, by hand, with CMake and with Meson."""

import json
import os

from external import Installed, cc, folder, needs, option, read, run, run_all, unsanitized, write

PROGRAM = """#include "lotka_volterra.h"
#include <stdio.h>
int main(void)
{
    const double *p = lotka_volterra_defaults;
    double y[lotka_volterra_states + lotka_volterra_costs];
    lotka_volterra_start(0, p, y);
    costate *c = costate_new(NULL, lotka_volterra_problem(), NULL);
    int status = costate_integrate(c, 0, 1, y, p, NULL);
    printf("%s %.2f\\n", lotka_volterra_state_names[lotka_volterra_prey], y[lotka_volterra_prey]);
    costate_free(c);
    return status;
}
"""
ANSWER = "prey 2.77"                  # 2.7728509 by scipy.integrate.solve_ivp, DOP853, rtol = 1e-12

LISTS = """cmake_minimum_required(VERSION 3.16)
project(outside C)
find_package(costate 2.0 REQUIRED)
add_executable(prey prey.c)
costate_add_model(prey lotka_volterra.eq)
target_link_libraries(prey PRIVATE m)
"""

MESON = """project('outside', 'c', default_options: ['c_std=c11', 'warning_level=3', 'werror=true'])
model = generator(find_program('costate-model'), output: ['@BASENAME@.c', '@BASENAME@.h'],
  arguments: ['@INPUT@', '-o', '@OUTPUT0@'])
executable('prey', 'prey.c', model.process('lotka_volterra.eq'),
  dependencies: [dependency('costate'), meson.get_compiler('c').find_library('m')])
"""


def outside(place, **files):
    """a directory with a program and its equations"""
    where = os.path.join(place, "outside")
    write(os.path.join(where, "prey.c"), PROGRAM)
    write(os.path.join(where, "lotka_volterra.eq"), read("models/lotka_volterra.eq"))
    for name, text in files.items():
        write(os.path.join(where, name), text)
    return where


def command(installed):
    return os.path.join(os.path.dirname(installed.include), option("bindir"), "costate-model")


def test_by_hand():
    needs("pkg-config")
    with folder() as place:
        installed, where = Installed(place, "shared"), outside(place)
        run(command(installed), "lotka_volterra.eq", cwd=where)
        flags = installed.flags("--cflags", "--libs")
        exe = os.path.join(where, "prey")
        cc(os.path.join(where, "prey.c"), os.path.join(where, "lotka_volterra.c"), "-o", exe, *flags, "-lm",
           "-Wl,-rpath," + installed.lib)
        assert run(exe).strip() == ANSWER, run(exe)


def test_a_fault_names_its_place():
    with folder() as place:
        installed, where = Installed(place, "shared"), outside(place)
        write(os.path.join(where, "wrong.eq"), "state x\nx' = -x + X0\n")
        said = run(command(installed), "wrong.eq", fails=True, cwd=where)
        assert said.startswith("wrong.eq:2:11: X0 is not declared\n  x' = -x + X0\n            ^"), said
        assert not os.path.exists(os.path.join(where, "wrong.c"))


def test_a_method():
    """the object of a coefficient file, with what is installed alone"""
    with folder() as place:
        installed = Installed(place, "shared")
        coefficients = write(os.path.join(place, "again.toml"), read("methods/erk/rk4.toml").replace("rk4", "again"))
        run(command(installed), coefficients, "-o", os.path.join(place, "again.c"))
        cc("-shared", "-fPIC", os.path.join(place, "again.c"), "-o", os.path.join(place, "again.so"),
           "-I" + installed.include)


def built_by_cmake(place, lists):
    """the folder in which a project with this CMakeLists.txt was built beside an installed costate"""
    installed, where = Installed(os.path.join(place, "tree")), outside(place, **{"CMakeLists.txt": lists})
    made = os.path.join(place, "made")
    run("cmake", "-G", "Ninja", "-S", where, "-B", made, "-Dcostate_DIR=" + installed.lib + "/cmake/costate")
    run("cmake", "--build", made)
    return made


def test_cmake():
    needs("cmake", "ninja")
    unsanitized()
    with folder() as place:
        made = built_by_cmake(place, LISTS)
        assert run(os.path.join(made, "prey")).strip() == ANSWER


# What stands beside costate_add_model in a CMakeLists.txt, before it and behind it; libraries that hold the model.
BESIDE = """cmake_minimum_required(VERSION 3.16)
project(outside C)
find_package(costate 2.0 REQUIRED)
add_executable(prey prey.c)
costate_add_model(prey lotka_volterra.eq)
foreach(form PRIVATE "")
  add_executable(prey_before${form} prey.c)
  target_link_libraries(prey_before${form} ${form} costate::costate m)
  costate_add_model(prey_before${form} lotka_volterra.eq)
  add_executable(prey_behind${form} prey.c)
  costate_add_model(prey_behind${form} lotka_volterra.eq)
  target_link_libraries(prey_behind${form} ${form} costate::costate m)
endforeach()
foreach(kind STATIC OBJECT)
  add_library(model_${kind} ${kind})
  costate_add_model(model_${kind} lotka_volterra.eq)
  add_executable(prey_${kind} prey.c)
  target_include_directories(prey_${kind} PRIVATE
    ${CMAKE_CURRENT_BINARY_DIR}/costate-models $<TARGET_PROPERTY:costate::costate,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(prey_${kind} PRIVATE model_${kind})
endforeach()
"""


def test_cmake_with_other_libraries():
    """target_link_libraries in each of its forms; libraries that hold the model"""
    needs("cmake", "ninja")
    unsanitized()
    with folder() as place:
        made = built_by_cmake(place, BESIDE)
        programs = [name for name in os.listdir(made) if name.startswith("prey")]
        assert len(programs) == 7, programs
        for name in programs:
            assert run(os.path.join(made, name)).strip() == ANSWER, name


def test_cmake_with_lanes():
    """maps of members side by side, in a program that has warnings as errors and other flags of its own"""
    needs("cmake", "ninja")
    unsanitized()
    lists = LISTS.replace("lotka_volterra.eq)", "lotka_volterra.eq LANES OPTIONS -O1)\ntarget_compile_options(prey "
                          "PRIVATE -Wall -Wextra -Werror)")
    program = PROGRAM.replace("return status;", "return status || lotka_volterra_lanes()[2].lanes != 8;")
    with folder() as place:
        installed, where = Installed(os.path.join(place, "tree")), outside(place, **{"CMakeLists.txt": lists})
        write(os.path.join(where, "prey.c"), program)
        made = os.path.join(place, "made")
        run("cmake", "-G", "Ninja", "-S", where, "-B", made, "-Dcostate_DIR=" + installed.lib + "/cmake/costate",
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        run("cmake", "--build", made)
        assert run(os.path.join(made, "prey")).strip() == ANSWER
        with open(os.path.join(made, "compile_commands.json"), encoding="utf-8") as commands:
            flags = {os.path.basename(c["file"]): c["command"] for c in json.load(commands)}
        assert "-O3 -fopenmp-simd -ffp-contract=off" in flags["lotka_volterra.c"], flags
        assert flags["lotka_volterra.c"].rindex("-O1") > flags["lotka_volterra.c"].rindex("-O3"), flags
        assert "-fopenmp-simd" not in flags["prey.c"], flags


def test_meson():
    needs("meson", "ninja", "pkg-config")
    unsanitized()
    with folder() as place:
        installed, where = Installed(place, "shared"), outside(place, **{"meson.build": MESON})
        made = os.path.join(place, "made")
        paths = {"PATH": os.path.dirname(command(installed)) + os.pathsep + os.environ["PATH"],
                 "PKG_CONFIG_PATH": installed.lib + "/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": place,
                 "LD_LIBRARY_PATH": installed.lib}
        run("meson", "setup", made, where, env=paths)
        run("ninja", "-C", made, env=paths)
        assert run(os.path.join(made, "prey"), env=paths).strip() == ANSWER


run_all(globals())
