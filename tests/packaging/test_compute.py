"""The page that computes (docs/site/compute): its module and its reader of equation files have the bits of the library
and of costate-model, faults are sentences with their place, and the page shows what was found.

They need clang for WebAssembly and node; the last test also Chromium."""
import base64
import functools
import json
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from external import (Skipped, build, compiler, folder, needs, read, root, run, run_all, unsanitized,  # noqa: E402
                      write)

from cases import fails  # noqa: E402

sys.path[:0] = [root, os.path.join(root, "docs", "site")]
from codegen.equations.byte_code import write as program_of  # noqa: E402
from codegen.equations.read import parse  # noqa: E402
from codegen.real import Refused  # noqa: E402
from computing import compute_page, form  # noqa: E402

METHODS = ("rodas5p", "radau2a5", "auto", "dopri5")      # the last is not for stiff problems
MISSING = 3                                      # what docs/site/compute returns without a compiler
MODELS = {"robertson_ode": ("B", 1e4), "van_der_pol": ("v", 2000), "lotka_volterra": ("meals", 10),
          "hires": ("y8", 100), "robertson_dae": ("B", 1e4)}
ROUND_OFF = 1e-11                                # of a gradient, with another linear solver
made = tempfile.TemporaryDirectory()


@functools.cache
def scripts():
    """The directory with the scripts; compiled at -O0, which takes a second and has the same bits"""
    unsanitized()
    needs("node")
    env = dict(os.environ, WASM_CC="clang -O0", COSTATE_CHECKED=os.path.join(build, "methods.checked"))
    done = subprocess.run([sys.executable, os.path.join(root, "docs", "site", "compute"), made.name, *METHODS],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, check=False)
    if done.returncode == MISSING:
        return done.stdout.strip()
    assert done.returncode == 0, done.stdout
    return Path(made.name)


def place():
    if isinstance(scripts(), str):
        raise Skipped(scripts())
    return scripts()


def computed(*tasks):
    """what the page finds"""
    done = subprocess.run(["node", os.path.join(root, "tests", "packaging", "compute.js"), place()],
                          input=json.dumps(tasks), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def task(text, method, component, t1, **more):
    return {"text": text, "settings": {"method": method, "component": component, "t0": 0, "t1": t1, "rtol": 1e-8,
                                       "atol": 1e-10, **more}}


def numbers(found):
    """all that depends on the run; null: NaN"""
    return [found[key] for key in ("status", "value", "error", "counts", "gradient", "errors")]


@functools.cache
def runs():
    """{(model, method): what the page finds, and what it finds with the byte code of costate-model}"""
    tasks, keys = [], []
    for name, (component, t1) in MODELS.items():
        text = read(f"models/{name}.eq")
        program = base64.b64encode(program_of(parse(text, name), name)).decode()
        for method in METHODS if name == "lotka_volterra" else METHODS[:-1]:
            one = task(text, method, component, t1)
            tasks += [one, {**one, "bytes": program}]
            keys.append((name, method))
    found = computed(*tasks)["tasks"]
    return dict(zip(keys, zip(found[::2], found[1::2])))


def test_models_have_the_bits_of_costate_model():
    for key, (ours, theirs) in runs().items():
        assert ours["status"] == 0 and ours["done"] and ours["counts"]["accepted"] > 10, (key, ours.get("message"))
        assert numbers(ours) == numbers(theirs), key
        assert all(abs(error) < 0.1 * abs(d) for d, error in zip(ours["gradient"], ours["errors"])), key


def native():
    """compute.c with the library of this build"""
    out = f"{made.name}/native"
    run(*compiler, "-std=c11", "-Wall", "-Wextra", "-Wshadow", "-pedantic", "-Werror", f"-I{root}/include",
        f"-I{root}/docs/site/compute", f"{root}/docs/site/compute/compute.c",
        f"{root}/tests/packaging/compute_native.c", "-L", build, "-lcostate", f"-Wl,-rpath,{build}", "-lm", "-o", out)
    return out


def has_the_bits(name):
    """whether C libraries and linear solvers round alike: platforms.md; HIRES is solved by LAPACK"""
    info = Path("/proc/cpuinfo")
    fma = info.exists() and " fma " in info.read_text(encoding="utf-8")
    return name != "hires" and platform.machine() == "x86_64" and fma


def test_models_have_the_bits_of_the_library():
    program = native()
    for (name, method), (ours, _) in runs().items():
        Path(made.name, "program").write_bytes(base64.b64decode(ours["program"]))
        _, t1 = MODELS[name]
        words = [f"{made.name}/program", method, ours["component"], 0, t1, 1e-8, 1e-10, *map(repr, ours["p"])]
        status, done, value, error, *rest = json.loads(run(program, *map(str, words)))
        counts, np = rest[:6], len(ours["p"])
        theirs = [status, value, error, counts, rest[6:6 + np], rest[6 + np:]]
        mine = [ours["status"], ours["value"], ours["error"], [*ours["counts"].values()], ours["gradient"],
                ours["errors"]]
        assert done == 1
        if has_the_bits(name):
            assert mine == theirs, (name, method, mine, theirs)
        assert counts == mine[3], (name, method)
        for a, b in zip([ours["value"], *ours["gradient"]], [value, *rest[6:6 + np]]):
            assert abs(a - b) <= ROUND_OFF * abs(b), (name, method, a, b)


def test_gradient_of_a_formula():
    """y(t) = y0 exp(-k t), and its integral: both parts of the gradient, through the equation and the start"""
    text = "parameter k = 2, a = 3\nstate y = a^2\ny' = -k*y\ncost q' = y\n"
    y, q = computed(task(text, "dopri5", "y", 1, rtol=1e-6), task(text, "radau2a5", "q", 1, rtol=1e-6))["tasks"]
    for found, right in ((y, [9 * math.exp(-2), -9 * math.exp(-2), 6 * math.exp(-2)]),
                         (q, [4.5 * (1 - math.exp(-2)), 4.5 * math.exp(-2) - 2.25 * (1 - math.exp(-2)),
                              3 * (1 - math.exp(-2))])):
        errors = [found["error"], *found["errors"]]
        for a, b, error in zip([found["value"], *found["gradient"]], right, errors, strict=True):
            assert abs(a - b) < 1e-5 * abs(b), (found["value"], found["gradient"], right)
            assert abs(b - a - error) < 0.3 * abs(b - a) + 1e-13, (a, b, error)
        assert len(found["curve"]) == 1 + 8 * found["counts"]["accepted"] and found["curve"][-1][0] == 1
        assert found["curve"][0][:2] == [0, 9] and found["curve"][3][2] is None, "costs are known at ends of steps"


def function_model(name, count):
    """a model that calls a function where it is smooth, and its powers where the number of arguments is two"""
    call = f"{name}(x/8 + p, 0.3 + q*x)" if count == 2 else f"{name}({'1.2 + ' * (name == 'acosh')}p + x/8)"
    return f"parameter p = 0.3, q = 0.2\nstate x = q\nx' = {call} - x*sin(t)\n"


def test_each_function():
    """and its first and second derivatives, in a Rosenbrock method, as costate-model has them; pow with any exponent"""
    table = computed()["table"]
    smooth = {name: len(slopes) for name, slopes in table["derivatives"].items() if re.fullmatch(r"\w+", name)}
    assert len(smooth) > 20 and "pow" in smooth
    aliases = {"ln": 1}
    texts = {name: function_model(name, count) for name, count in {**smooth, **aliases}.items()}
    texts["power"] = "parameter p = 2.5, q = -0.5\nstate x = 1.5\n" \
        "x' = x^p/(1 + x^3) + x^q - x^1.5/9 + x^(-2)/4 + 2^(-x) + x^0/7 + x^1/11 + x^(-1)/13\n"
    tasks = []
    for text in texts.values():
        one = task(text, "rodas5p", "x", 1)
        tasks += [one, {**one, "bytes": base64.b64encode(program_of(parse(text, "f"), "f")).decode()}]
    found = computed(*tasks)["tasks"]
    for name, ours, theirs in zip(texts, found[::2], found[1::2]):
        assert ours["status"] == 0 and ours["gradient"][0] != 0, (name, ours.get("fault", ours.get("message")))
        for a, b in zip([ours["value"], *ours["gradient"]], [theirs["value"], *theirs["gradient"]]):
            assert abs(a - b) <= ROUND_OFF * abs(b), (name, a, b)


# macros, units, texts, numbers of Fortran, comments, lines that go on, reactions with sources and fixed species
SMOG = """# comment
model smog "a test"
parameter a = 1d-1 {1/s} "first", b = 2*0.5,
    held = 3
state X = a + b {mol} "amount", Y, Z = 1/4
let twice(u) = 2*u
let load = twice(X)*exp(-t) - -Y**2
reactions:
X + held -> 2 Y : k1 = 0.3 {1/s}
2 Y <-> Z : a*0.5, b
0 -> X : load/10
Z -> 0 : 1e-1
Y -> X - 0.5 Z : 0.02
X -> 0 - 2*Y : 0.001
output seen = X/(Y + 1)
"""
# constraints whose left sides are not 0, in rows between others
CONSTRAINTS = """parameter k = 2, nan_ = 1
state x = 1
algebraic z = 3, w = 3 index 1
state y = 2
x + y = z*nan_
w - z = 0
x' = -k*x*w
y' = k*x - z
"""


def test_language():
    for text, component, np in ((SMOG, "Z", 4), (CONSTRAINTS, "y", 2)):
        one = task(text, "radau2a5", component, 3)
        program = base64.b64encode(program_of(parse(text, "m"), "m")).decode()
        ours, theirs = computed(one, {**one, "bytes": program})["tasks"]
        assert "fault" not in ours, ours["fault"]
        assert ours["status"] == 0 and len(ours["gradient"]) == np, ours["message"]
        assert numbers(ours) == numbers(theirs), (component, numbers(ours), numbers(theirs))


# faults that costate-model finds at the same place
FAULTS = ("state x\nx' = -k*x\n", "parameter k = 1\nstate x\nx' = 2 k*x\n", "state x\n", "state x\nx' = 1\nx' = 2\n",
          "state x\nx' = foo(x)\n", "state x\nx' = exp(x, x)\n", "state x\nx' = (x + 1\n", "state x\nx' = x $ 2\n",
          "state exp\n", "state x, x\nx' = 1\n", "state x\nx' = 1/0\n", "parameter k = 1\nk' = 2\n",
          "state x = 1\nx' = 1\n0 = x\n", "algebraic z\nz' = 1\n", "state x = y, y\nx' = 1\ny' = 1\n",
          "state A\nA -> Q : 1\n",
          "state x\nx' = exp\n", "let f(a) = a\nstate x\nx' = f\n", "let f(a) = a\nstate x\nx' = f(1, 2)\n",
          "let u = u\nstate x\nx' = u\n", "state x\nx' = x +\n", "parameter k = 1e999\nstate x\nx' = k\n",
          "cost q' = x\nstate x\nx' = q\n", "parameter k = x\nstate x\nx' = k\n", 'state x "text\nx\' = 1\n',
          "x' = 1\n", "state x x\nx' = 1\n", "parameter exp = 1\nstate x\nx' = 1\n", "algebraic z index 3\n0 = z\n",
          "state x\nx' = for\n", "state x\nx' = 2 index\n",
          "state A, B\nA <-> B - 2 A : 1, 1\n", "state A, B\nA * B -> B : 1\n", "state x\nx' = 0^(-1)\n",
          "output o = 1\nstate x\nx' = o\n", "parameter k = 1\n", "state A, B\nA - B -> B : 1\n")
# what costate-model serves and this page does not
NOT_SERVED = {"event e at 1\n": "events", "memory m\n": "memory variables", "mode on\n": "modes",
              "stop at 1\n": "stops",
              "table f steps (0, 1), (1, 2)\n": "tables", "size N = 3\n": "grids", "state v[1..2]\n": "vectors",
              "kinks as branches\n": "kinks", "unit check on\n": "checks of units",
              "function f(a) derivatives 1\n": "functions in C",
              "x' = abs(x)\n": "abs is not served",
              "x' = fabs(x)\n": "fabs is not served", "x' = if(x > 0, 1, 2)\n": "if is not served",
              "x' = min(x, 1)\n": "min is not served", "x' = x > 1\n": "conditions",
              "2*x' = 1\n": "has the form x' = ...", "x' = sum(k = 1..2, k)\n": "sums",
              "x' = 1 for k = 1..2\n": "loops", "parameter k = nan\n": "without a value", "x' = x[1]\n": "vectors",
              "parameter k = exp(1)\n": "is a number"}


def test_faults_are_sentences_with_their_place():
    for text, found in zip(FAULTS, computed(*(task(text, "dopri5", "x", 1) for text in FAULTS))["tasks"], strict=True):
        where, place_of = re.search(r"x:(\d+):(\d+): ", str(fails(Refused, "", parse, text, "x"))), found.get("fault")
        assert place_of, "accepted: " + text
        line, column, words = re.match(r"Line (\d+), column (\d+): (.+)[.?]\n", place_of).groups()
        assert (line, column) == where.groups(), (text, place_of, where[0])
        shown, caret = place_of.split("\n")[1:]
        assert shown[4:] == (text.splitlines() + ["", ""])[int(line) - 1] and len(caret) == 4 + int(column), place_of
        assert len(words) > 10, words


def test_a_similar_name_is_shown():
    texts = ("parameter rate = 1\nstate x\nx' = -rat*x\n", "parameter k = 1\nstate x\nx' = -K*x\n",
             "state x\nx' = Sin(x)\n", "state x\nx' = y\n")
    found = computed(*(task(text, "dopri5", "x", 1) for text in texts))["tasks"]
    for one, end in zip(found, ("did you mean rate?", "did you mean k?", "did you mean sin?", "is not declared.")):
        assert one["fault"].split("\n")[0].endswith(end), one["fault"]


def test_what_is_not_served_is_refused_by_name():
    texts = ["state x\n" + text for text in NOT_SERVED]
    for text, words, found in zip(texts, NOT_SERVED.values(),
                                  computed(*(task(text, "dopri5", "x", 1) for text in texts))["tasks"], strict=True):
        assert words in found.get("fault", ""), (text, found.get("fault", "accepted"))
        assert found["fault"].startswith("Line 2, column "), found["fault"]


def test_messages_of_the_library_are_shown():
    explodes = "state x = 1\nx' = x^2\n"
    found = computed(task(explodes, "dopri5", "x", 2), task(explodes, "no_such", "x", 1),
                     task(explodes, "dopri5", "x", 0.5, rtol=-1),
                     {**task(explodes, "dopri5", "x", 0.5), "bytes": "AAAA"})["tasks"]
    for one, words in zip(found, ("t = ", "There is no method", "rtol", "not a program"), strict=True):
        assert one["status"] < 0 and not one["done"] and words in one["message"], one["message"]
    curve = found[0]["curve"]
    assert len(curve) > 8 and abs(curve[-1][0] - 1) < 1e-3 and curve[-1][1] > 1e3, "up to the failure"


def test_errors_are_unknown_where_they_could_not_be_estimated():
    """a pulse that the run has missed: the library says so, and nothing claims to know the errors"""
    pulse, = computed(task("parameter a = 3\nstate x\nx' = a*exp(-((t - 5)*200)^2)\n", "dopri5", "x", 10))["tasks"]
    assert pulse["status"] < 0 and pulse["done"] and len(pulse["message"]) > 60, pulse
    assert pulse["error"] is None and pulse["errors"] == [None] and pulse["gradient"][0] is not None, pulse


def test_without_a_compiler_there_is_a_sentence():
    command = [sys.executable, os.path.join(root, "docs", "site", "compute"), made.name + "/none"]
    done = subprocess.run(command, text=True, env=dict(os.environ, WASM_CC="no-such-compiler"), capture_output=True,
                          check=False)
    assert done.returncode == MISSING and done.stderr == "compute: there is no no-such-compiler\n", done
    with folder() as out:
        write(f"{out}/start/compute.md", read("docs/start/compute.md"))
        assert compute_page(type("Sources", (), {"out": Path(out)}), None) == []
        assert "wasi-libc" in read(f"{out}/start/compute.md") and "<script" not in read(f"{out}/start/compute.md")


# Chromium's virtual time does not wait for the compiler of WebAssembly, but for work like this
WAITING = """<script>
const wait = setInterval(() => {
    if (document.querySelector("#compute table, #compute .fault")) clearInterval(wait);
    for (let k = 0, sum = 0; k < 3e6; k++) sum += Math.sqrt(k);
}, 10);
</script>"""


def test_page_in_a_browser():
    """opened as a file, so that nothing can come from a server: the first example has run"""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        raise Skipped("there is no chromium")
    with folder() as out:
        shutil.copytree(place(), f"{out}/_static")
        inside = form().split("\n", 1)[1].rsplit("```", 1)[0]                # of the fence of Markdown
        write(f"{out}/start/compute.html", "<!doctype html><body>" + inside + WAITING)
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]
        done = subprocess.run([browser, *options, f"--user-data-dir={out}/user", f"file://{out}/start/compute.html"],
                              capture_output=True, text=True, timeout=120, check=False)
    page = done.stdout
    assert "Robertson" in page, done.stderr[-2000:]
    fault = re.search(r'class="fault">([^<]*)', page)
    assert not fault, fault[1]
    rows = re.findall(r'<td>(k\d)</td><td>[^<]*</td><td><span title="[^"]*">[^<]*</span></td><td>([^<]*)</td>', page)
    assert [name for name, _ in rows] == ["k1", "k2", "k3"]
    assert all("±" in error and "unknown" not in error for _, error in rows), rows
    assert page.count("<polyline") == 5 and re.search(r"\d+ steps, \d+ rejected", page), "four curves and the steps"


run_all(globals())
