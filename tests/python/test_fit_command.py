"""test_fit_command.py - costate fit: a table and an equation file, a PEtab problem; estimates are those of costate.fit,
tables are read as they are described, and what is wrong is said in a sentence."""
import contextlib
import importlib.util
import io
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))

import numpy as np                                      # noqa: E402

from cases import Skipped, fails, run_all               # noqa: E402
from common import close                                # noqa: E402
from petab_problems import DECAY, EXCHANGE, decay, written      # noqa: E402
import costate                                          # noqa: E402
from costate import Condition, Measurements, Unknown    # noqa: E402
from costate.__main__ import main                       # noqa: E402
from costate.fitting import of_petab, read_table        # noqa: E402

PLACE = tempfile.TemporaryDirectory()
EQUATIONS = """model decay "decay of a drug"
parameter k = 0.5 {1/h}, dose = 1 {mg}, V = 1.5 {L}
state A = dose {mg}
A' = -k*A
output c = A/V {mg/L}
"""
TABLE = """t,dose,c,sigma_c
0,1,0.52,0.02
1,1,0.31,0.02
2,1,.16,0.01
4,1,<0.08,0.01
0.5,3,1.2,0.04

1,3,.85,0.03
2,3,,0.02
3,3,>0.25,0.02
"""


def file(name, text):
    path = os.path.join(PLACE.name, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def said(*words):
    """(exit status, output, errors)"""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["fit", *words])
    return status, out.getvalue(), err.getvalue()


def model_and_table():
    return file("decay.eq", EQUATIONS), file("data.csv", TABLE)


def test_table():
    model, table = model_and_table()
    found = read_table(table, costate.Model.from_file(model))
    assert list(found) == ["dose = 1", "dose = 3"] and found["dose = 3"].p == {"dose": 3.0}
    low, high = (condition.data[0] for condition in found.values())
    close(low.times, [0, 1, 2, 4], 0)
    close(low.values[:, 0], [0.52, 0.31, 0.16, 0.08], 0)
    assert low.censored[:, 0].tolist() == [0, 0, 0, -1] and high.censored[:, 0].tolist() == [0, 0, 0, 1]
    close(low.sigma[0], [0.02, 0.02, 0.01, 0.01], 0)
    assert (high.count, high.skipped, low.of) == (3, 1, ["c"])


def test_fit_of_a_table():
    model, table = model_and_table()
    page = os.path.join(PLACE.name, "out.html")
    status, out, err = said(model, table, "--page", page)
    times, seen = np.array([0, 1, 2, 4]), [0.52, 0.31, 0.16, 0.08]
    low = Measurements(times, seen, "c", sigma=np.array([0.02, 0.02, 0.01, 0.01]), censored=[0, 0, 0, -1])
    high = Measurements([0.5, 1, 3], [1.2, 0.85, 0.25], "c", sigma=np.array([0.04, 0.03, 0.02]), censored=[0, 0, 1])
    fit = costate.fit(costate.Model(EQUATIONS), [Condition(low, p={"dose": 1.0}), Condition(high, p={"dose": 3.0})],
                      {"k": 0.5, "V": 1.5})
    assert (status, err) == (0, "") and "2 unknowns, 7 values (1 not measured), 2 conditions" in out
    for name in ("k", "V"):
        assert f"{fit.estimates[name]:.5g}" in out and f"{fit.errors[name]:.2g}" in out, out
    assert out.endswith("out.html was written\n") and os.path.getsize(page) > 10000


def test_words():
    """unknowns with bounds, an unknown deviation, logarithms, profiles, starts"""
    model, table = file("decay.eq", EQUATIONS), file("plain.csv", TABLE.replace(",sigma_c", "").replace(
        "0.02\n", "\n").replace(",0.01", "").replace(",0.04", "").replace(",0.03", "").replace(",\n", "\n"))
    status, out, err = said(model, table, "--sigma", "sd", "k", "V=2:0.1:10", "sd=0.05", "--log", "--profiles")
    assert (status, err) == (0, "") and "log10" in out and "<Profile of sd:" in out, (out, err)
    status, out, err = said(model, table, "--sigma", "0.02", "k=0.5:0.1:2", "V=2:0.1:10", "--starts", "4", "--noise",
                            "log-normal")
    assert (status, err) == (0, "") and "of 4 starts" in out


def test_petab():
    """the maximum of a closed form, and priors"""
    if importlib.util.find_spec("yaml") is None:
        raise Skipped("no PyYAML")
    path = str(written(DECAY, os.path.join(PLACE.name, "decay")))
    fit = of_petab(path)
    assert fit.converged and fit.names == ["k", "scale", "sd", "start"]
    x = np.array(fit.x)
    close(fit.J, -decay(x), 1e-7)
    for d in np.eye(4)*1e-3:
        assert decay(x + d) < decay(x) and decay(x - d) < decay(x)
    H = np.array([[-(decay(x + a + b) - decay(x + a - b) - decay(x - a + b) + decay(x - a - b))/4e-6
                   for a in np.eye(4)*1e-3] for b in np.eye(4)*1e-3])
    close(np.sqrt(np.diag(fit.covariance)), np.sqrt(np.diag(np.linalg.inv(H))), 1e-3)
    status, out, err = said(path)
    assert (status, err) == (0, "") and f"{fit.estimates['k']:.5g}" in out
    fit.write_page(os.path.join(PLACE.name, "petab.html"))
    fails(ValueError, "not available for PEtab", fit.predict, [1.0])
    coarse = fit.misfit.with_factor(1e4)
    close(coarse.rtol, 1e4*fit.rtol, 1e-12)
    assert coarse.value(x) != fit.misfit.value(x)
    close(fit.misfit.gradient(x) - coarse.gradient(x), coarse.gradient_error(x), 0.3)


def test_petab_without_hessian():
    """measurements at infinity: gradients alone lead to the maximum"""
    if importlib.util.find_spec("yaml") is None:
        raise Skipped("no PyYAML")
    fit = of_petab(str(written(EXCHANGE, os.path.join(PLACE.name, "exchange"))))
    assert not fit.misfit.has_hessian
    assert np.linalg.norm(fit.misfit.gradient(fit.x)) < 1e-2*np.sqrt(np.trace(fit.hessian))


def test_numbers_that_are_equal():
    """rows agree in a parameter where its numbers do, however they are written"""
    table = file("equal.csv", "t,c,dose\n0,0.5,1\n1,0.3,1.0\n0,1,2e0\n1,0.6,2\n")
    found = read_table(table, costate.Model(EQUATIONS))
    assert [(name, len(one.data[0].times)) for name, one in found.items()] == [("dose = 1", 2), ("dose = 2", 2)]


def test_what_is_wrong():
    model, table = model_and_table()
    latin = os.path.join(PLACE.name, "latin.csv")
    with open(latin, "wb") as out:
        out.write("t,c,\xe9\n1,2,3\n".encode("latin-1"))
    for words, sentence in (
            ((model,), "there are no data"), ((model, table, "q"), "'q' has no guess"),
            ((model, table, "k=a"), "'k=a' is no unknown"), ((model, table, "k=1:2"), "has 2 numbers"),
            ((model, "nothing.csv"), "nothing.csv: No such file"), (("no.eq", table), "no.eq: No such file"),
            ((model, table, "--foo"), "unrecognized arguments: --foo"),
            ((model, table, "k=5:1:2"), "outside its bounds"),
            ((model, table, "--noise", "white"), "noise is 'white'"),
            ((model, file("a.csv", "t,c\n")), "has no rows of data"),
            ((model, file("b.csv", "t,c,d\n1,2,3\n")), "the column 'd' is no state (A), output (c) or parameter"),
            ((model, file("c.csv", "t,dose\n1,2\n")), "no column is named like a state"),
            ((model, file("d.csv", "t,c\n1,2\n2\n")), "line 3: 1 cells, but 2 names"),
            ((model, file("e.csv", "t,c\n1,two\n")), "line 2: c is 'two', which is no number"),
            ((model, file("f.csv", "t,c\n1,\n")), "there are no data"),
            ((model, file("g.csv", "t,c\n1,<2\n2,1\n")), "sigma is None"),
            ((model, file("h.csv", "A,c\n1,2\n2,1\n")), "the first column is 'A', a name of decay; expected the time"),
            ((model, file("i.csv", "t,c,c\n1,2,2\n2,1,1\n")), "two columns are named 'c'"),
            ((model, file("j.csv", "t;c\n1;2\n2;1\n")), "expected cells between commas"),
            ((model, file("k.csv", "t,c\n1,2\n<2,1\n")), "line 3: time is '<2'; only measured values may be bounds"),
            ((model, file("l.csv", "t,c,sigma_c\n1,2,>1\n")), "sigma_c is '>1'; only measured values"),
            ((model, file("m.csv", "t,c,dose\n1,2,<1\n")), "dose is '<1'; only measured values"),
            ((model, file("n.csv", "t,c,dose\n1,2,1\n\n2,1,\n")), "line 4: dose is ''; each row needs the value"),
            ((model, file("o.csv", "t,c\n1,2\n2,x\n".replace("\n", "\n\n"))), "line 5: c is 'x'"),
            ((model, latin), "is not text in UTF-8"), ((model, table, "k=1", "k=2"), "named twice: k, k"),
            ((file("wrong.eq", "model x\nstate A\nA' = -q*A\n"), table), "q is not declared"),
            (("problem.yaml", table), "one word too many")):
        status, out, err = said(*words)
        assert status == 2 and err.startswith("costate fit: ") and sentence in err, (words, err)
    assert said()[0] == 2 and said("--help")[0] == 0 and "costate fit MODEL DATA.csv" in said("--help")[1]


if __name__ == "__main__":
    run_all(globals())
