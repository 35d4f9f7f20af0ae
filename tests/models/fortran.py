"""fortran.py SOURCE BUILD SANITIZE COMPILER...: the Fortran modules of shipped models compile without a warning, and a
run from Fortran has the bits of the same run from C.  Reports in the format of cmocka."""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import build, compiler, need_library, program, root, run, sanitize  # noqa: E402

from cases import Skipped, run_all  # noqa: E402
from codegen.command import write  # noqa: E402
from codegen.real import Refused  # noqa: E402

STRICT = ["-std=f2018", "-Wall", "-Wextra", "-Werror"]
IN_C = """#include "dosing.h"
#include <stdio.h>

int main(void)
{
    double y[dosing_states + dosing_memory], lambda[dosing_states + dosing_memory] = {0}, mu[dosing_parameters] = {0};
    const double *p = dosing_defaults;
    const costate_options o = {.backend = dosing_backend()};
    costate *c = costate_new(costate_method_find("rodas5p"), dosing_problem(), &o);
    costate_tape *tape = costate_tape_new();
    dosing_start(0, p, y);
    int status = costate_integrate(c, 0, 30, y, p, tape);
    lambda[dosing_blood] = 1;
    if (!status) status = costate_adjoint(c, tape, 1, lambda, mu, NULL, NULL);
    for (int k = 0; k < dosing_states; k++) printf("%.17e\\n", y[k]);
    for (int k = 0; k < dosing_parameters; k++) printf("%.17e\\n", mu[k]);
    costate_tape_free(tape);
    costate_free(c);
    return status;
}
"""
IN_FORTRAN = """program same
    use dosing
    implicit none
    real(c_double) :: y(dosing_states + dosing_memory), lambda(dosing_states + dosing_memory)
    real(c_double) :: p(dosing_parameters), mu(dosing_parameters)
    type(costate_options) :: o
    type(costate_map), pointer :: outputs
    type(c_ptr) :: c, tape
    integer(c_int) :: status
    p = dosing_defaults
    o%backend = dosing_backend()
    c = costate_new(costate_method_named('rodas5p'), dosing_problem(), o)
    tape = costate_tape_new()
    call dosing_start(0._c_double, p, y)
    status = costate_integrate(c, 0._c_double, 30._c_double, y, p, tape)
    lambda = 0
    lambda(dosing_blood) = 1
    mu = 0
    if (status == COSTATE_OK) status = costate_adjoint(c, tape, 1_c_int, lambda, mu)
    outputs => dosing_output_map()
    if (status /= COSTATE_OK .or. .not. c_associated(outputs%value)) stop 1
    print '(es24.17)', y(:dosing_states), mu
    call costate_tape_free(tape)
    call costate_free(c)
end program
"""


def need_fortran():
    need_library()
    if not shutil.which("gfortran") or sanitize != "none":
        raise Skipped("there is no gfortran, or the library has a sanitizer")


def modules(place):
    """costate.f90 and those of limits, compiled"""
    for name in ("costate", "costate_steady", "costate_periodic"):
        run("gfortran", "-J" + place, "-c", os.path.join(root, "fortran", name + ".f90"), "-o",
            os.path.join(place, name + ".o"))


def test_shipped_models_compile():
    need_fortran()
    count = 0
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        modules(place)
        for name in sorted(os.listdir(os.path.join(root, "models"))):
            if not name.endswith(".eq"):
                continue
            try:
                write(os.path.join(root, "models", name), os.path.join(place, name[:-3] + ".c"), fortran=True)
            except Refused as fault:
                assert "not on grids" in str(fault), fault
                continue
            run("gfortran", *STRICT, "-I" + place, "-J" + place, "-c", os.path.join(place, name[:-3] + ".f90"), "-o",
                os.path.join(place, "module.o"))
            count += 1
    assert count >= 15, count


def test_runs_have_the_bits_of_c():
    need_fortran()
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        modules(place)
        model = os.path.join(place, "dosing.c")
        write(os.path.join(root, "models", "dosing.eq"), model, fortran=True)
        in_c = run(program(place, IN_C, [model], "-I" + place))
        with open(os.path.join(place, "same.f90"), "w", encoding="utf-8") as file:
            file.write(IN_FORTRAN)
        run(*compiler, "-O0", "-I" + root + "/include", "-c", model, "-o", os.path.join(place, "dosing.o"))
        exe = os.path.join(place, "same")
        parts = [os.path.join(place, name) for name in ("dosing.f90", "same.f90", "costate.o", "dosing.o")]
        run("gfortran", *STRICT, "-I" + place, "-J" + place, *parts, "-o", exe, "-L" + build, "-lcostate")
        in_fortran = run(exe)
    assert [float(x) for x in in_fortran.split()] == [float(x) for x in in_c.split()], (in_fortran, in_c)
    assert len(in_c.split()) == 8


run_all(globals())
