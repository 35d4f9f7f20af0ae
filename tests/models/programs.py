"""programs.py SOURCE BUILD SANITIZE COMPILER...: models as byte code have the bits of the same models as C.

All models of models/ but those on grids, models with what these do not have, and random equation files: every product
of every map at random points with all kinds of directions and weights; runs, gradients and Hessian products of models.
Reports in the format of cmocka."""
import glob
import os
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import FLAGS, build, compiler, need_library, root, run, sanitize  # noqa: E402

import drafts  # noqa: E402
import random_files  # noqa: E402
from cases import fails, run_all  # noqa: E402
from codegen.equations import byte_code, c_file, kpp, pieces, read  # noqa: E402
from codegen.real import Refused  # noqa: E402

HERE = os.path.join(root, "tests", "models")
FILES = 30                                   # random ones
RUNS = 115                                    # at least, of those below; each with its gradient and a Hessian product
# clang 14 with its sanitizers takes more than 200 s at -O1 for the model `large`, 6 s at -O0.
OPTIMIZATION = "-O2" if sanitize == "none" else "-O0"
DAMAGES = 2000 if os.environ.get("COSTATE_TESTS") == "all" else 300          # of each program
# ends of runs
ENDS = {"bouncing_ball": 2, "cascade": 2, "dosing": 30, "drug": 30, "friction": 6, "hares": 5, "hires": 5, "kepler": 3,
        "lotka_volterra": 5, "pollution": 20, "population": 5, "reactor": 1, "robertson_dae": 10, "robertson_ode": 10,
        "rotor_dae": 1, "thermostat": 20, "van_der_pol": 5, "pendulum": 1, "battery": 1}
IN_PIECES = ("oregonator", "reactor", "robertson_dae")       # with columns at once, calls, a mass matrix
OTHERS = {"residual": """parameter k = 2
memory d = 1
state x = 1, v
algebraic z
cost q' = x^2 + d*t
output o = z/x
0 = x' - v
0 = v' + k*x*z + d*v
0 = z - sin(x)*cosh(v)
event hit when x - 0.1 falls
    d += 1
event fast when v - 0.5 rises
    v := -0.5*v
    q += x*k
""", "tables": """state x = 1, y = 2
table inflow linear (0, 1), (2, 3), (3, 0.5), (9, 1)
table steps steps (0, 1), (1, 2), (4, 0)
parameter k = 3, empty
x' = inflow(t) - k*abs(x - y) + floor(x)
y' = min(x, steps(t)) + if(x < 1 and y > 0.5 or not t < 1, sin(x)/y, exp(-y^2)*log(1 + x^2))
output a = x/y
output b = sqrt(x)*empty
""", "large": """state x[1..120] = 1
parameter k[1..120] = 0.5, c = 2
x[i]' = k[i]*x[i]*sin(c*x[i]) - x[i]^3 for i = 1..119
x[120]' = sum(i = 1..119, x[i]*x[i + 1]*exp(-k[i]*x[i]^2))
"""}


def written(place, name, model):
    """Writes NAME.c, NAME.h, NAME.bin; the row of the driver"""
    model.name = name
    for suffix, text in zip((".c", ".h"), c_file.write(model, name + ".eq")):
        with open(os.path.join(place, name + suffix), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(place, name + ".bin"), "wb") as file:
        file.write(byte_code.write(model, name + ".eq"))
    with open(os.path.join(place, name + ".h"), encoding="utf-8") as file:
        backend = f"{name}_backend" if f"{name}_backend" in file.read() else "NULL"
    outputs = f"{name}_output_map" if model.outputs else "NULL"
    defaults = f"{name}_defaults" if model.parameters else "NULL"
    return f'{{"{name}", {name}_problem, {name}_start_map, {outputs}, {len(model.outputs)}, {defaults}, ' \
        f"{backend}, {ENDS.get(name, 0)}}}"


def compared(models):
    """Compares models {name: Model}; {name: number of runs}"""
    need_library()
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        rows = [written(place, name, model) for name, model in models.items()]
        with open(os.path.join(place, "models.h"), "w", encoding="utf-8") as file:
            file.writelines(f'#include "{name}.h"\n' for name in models)
            file.write("#define ROWS " + ", \\\n    ".join(rows) + "\n")
        exe = os.path.join(place, "driver")
        run(*compiler, *FLAGS, OPTIMIZATION, "-ffp-contract=off", "-I" + place,
            os.path.join(HERE, "program_driver.c"), *(os.path.join(place, name + ".c") for name in models), "-o", exe,
            "-L" + build, "-lcostate", "-lm")
        return {line.split()[0]: int(line.split()[1]) for line in run(exe, place).splitlines()}


def test_models_have_the_same_bits():
    files = sorted(glob.glob(os.path.join(root, "models", "*.eq")))
    models = {os.path.basename(file)[:-3]: read.read(file) for file in files}
    models = {name: model for name, model in models.items() if not model.on_grid}
    models["smog"] = kpp.read(os.path.join(root, "models", "smog", "smog.def"), ())[0]
    found = compared(models)
    print(found)
    assert sum(found.values()) >= RUNS, found


def test_what_else_there_is_has_the_same_bits():
    compared({name: read.parse(text, name + ".eq") for name, text in OTHERS.items()})


def test_functions_in_pieces_have_the_same_bits():
    """as those of large models, here with a few lines in each"""
    before = pieces.WHOLE, pieces.LENGTH
    pieces.WHOLE, pieces.LENGTH = 0, 3
    try:
        models = {name: read.parse(OTHERS[name], name + ".eq") for name in ("residual", "tables")}
        models |= {name: read.read(os.path.join(root, "models", name + ".eq")) for name in IN_PIECES}
        models |= {f"m{k}": read.parse(random_files.Case(k).text(), "m.eq") for k in range(FILES // 2)}
        compared(models | {"of_network": networks()["of_network"]})
    finally:
        pieces.WHOLE, pieces.LENGTH = before


def networks():
    """Models with products of matrices, one of them longer than what fits on the stack"""
    found = {"of_" + make.__name__: (make, n) for make, n in drafts.ALL}
    out = {}
    for name, (make, n) in (found | {"layers": (lambda d: d.layer(36, d.layer(40, d.y)), 36)}).items():
        d = drafts.Draft(name, n)
        out[name] = d.done(make(d))
    return out


def test_products_of_matrices_have_the_same_bits():
    compared(networks())


def test_random_files_have_the_same_bits():
    compared({f"m{k}": read.parse(random_files.Case(k).text(), "m.eq") for k in range(FILES)})


def test_what_is_not_served_is_named():
    grid = read.read(os.path.join(root, "models", "heat.eq"))
    fails(Refused, "is on a grid; compile it", byte_code.write, grid, "heat.eq")
    many = read.parse("state A, B\n" + "\n".join(f"A -> B : {k + 1}" for k in range(301)), "many.eq")
    fails(Refused, "has 301 reactions", byte_code.write, many, "many.eq")


def test_damaged_programs_are_harmless():
    need_library()
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        files = []
        matrices = networks()
        for name in ("residual", "tables", "thermostat", "hires", "robertson_dae", "of_network", "of_transposed"):
            text, model = OTHERS.get(name), matrices.get(name)
            model = model or (read.parse(text, name + ".eq") if text else
                              read.read(os.path.join(root, "models", name + ".eq")))
            files.append(os.path.join(place, name + ".bin"))
            with open(files[-1], "wb") as file:
                file.write(byte_code.write(model, name + ".eq"))
        exe = os.path.join(place, "damaged")
        run(*compiler, *FLAGS, "-O1", os.path.join(HERE, "program_damaged.c"), "-o", exe, "-L" + build, "-lcostate")
        refused, used = map(int, run(exe, "1", str(DAMAGES), *files).split())
        assert min(refused, used) > DAMAGES / 2, (refused, used)
        print(f"{refused} damaged programs were refused, {used} run")


run_all(globals())
