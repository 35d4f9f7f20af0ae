"""trust_pictures.py ROWS DIRECTORY - pictures of the documents from measured rows.

ROWS: build/bench/trust.json of `./run bench trust`, what build/bench/adi prints, 38_map.dat of
examples/38_ozone_map DIRECTORY 400, kepler.dat of examples/40_kepler kepler.dat, or what 43_runup DIRECTORY writes.
DIRECTORY: docs/pictures.  They are drawn as those of the site."""
import json
import math
import os
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "docs", "site"))
sys.path.insert(0, os.path.join(ROOT, "bench"))

from figure import Figure                                           # noqa: E402
from maps import ozone_maps                                         # noqa: E402
from parts.trust import KNOWN, MODES, NEAR                          # noqa: E402

METHOD = "dopri5"
WORDS = {"plain": "gradient, stability off", "stable": "gradient, default",
         "controlled": "gradient, gradient_control = 1"}
PARABOLIC = {"w6s4os": "w6s4os, ADI splitting", "rock4": "rock4", "ark436_adi": "ark436, GMRES with ADI",
             "ark436_ilu": "ark436, GMRES with ILU"}
KINDS = {"plain": 1, "stable": 2, "controlled": 0}                   # colours of figure.py


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        made = drawn(os.path.basename(sys.argv[1]), file.read())
    for name, picture in made.items():
        with open(os.path.join(sys.argv[2], name + ".svg"), "w", encoding="utf-8") as file:
            file.write("\n".join(textwrap.fill(line, 118, break_on_hyphens=False, break_long_words=False)
                                 for line in picture.text().split("\n")))


def drawn(name, text):
    if name == "kepler.dat":
        return {"kepler": kepler([line.split() for line in text.splitlines()])}
    if name == "43_runup.dat":
        return runup([[float(word) for word in line.split()] for line in text.splitlines()])
    if name.endswith(".dat"):
        return ozone_maps(text)
    return by_set([json.loads(line) for line in text.splitlines()])


def kepler(rows):
    """errors of the position against the number of periods, without and with projection"""
    picture = Figure((0, 4), (-8, 3), "A planet, dopri853 at rtol = 1e-8", ("periods", "error of the position"), 420,
                     330, (True, True))
    for kind, words in enumerate(("without projection", "energy and angular momentum kept")):
        points = [(math.log10(float(row[1])), math.log10(float(row[2]))) for row in rows if row[0] == str(kind)]
        picture.curve(points, f"c{kind}")
        picture.note(words, f"t{kind}")
    return picture


def runup(rows):
    """the beach with the highest water, and the gradient of the run-up with respect to its bed, means over 5 m"""
    shore = Figure((30, 80), (-1.2, 1.2), "Solitary wave on a beach of 1:20", ("x in m", "m"), 420, 260)
    shore.curve([(row[0], row[1]) for row in rows if row[0] >= 30 and row[1] <= 1.2], "c4")
    shore.curve([(row[0], row[2]) for row in rows if row[0] >= 30 and row[2] > row[1]], "c0")
    shore.note("highest water", "t0")
    shore.note("bed", "t4")
    slope = Figure((30, 80), (-0.1, 0.15), "What raises the run-up", ("x in m", "dR/db per m, mean over 5 m"), 420, 260)
    means = [(row[0], [other[3] for other in rows if abs(other[0] - row[0]) <= 2.5]) for row in rows]
    slope.curve([(x, sum(near) / len(near)) for x, near in means if 30 <= x <= 80], "c1")
    return {"runup": shore, "runup-by-bed": slope}


def by_set(rows):
    return parabolic(rows) if rows[0]["set"] == "adi" else trusted(rows)


def trusted(rows):
    made = {"gradient-" + name.replace("_", "-"): by_rtol(rows, name) for name in ("swe_40", "vdpol_50")}
    made["estimates"] = scatter([row for row in rows if row["set"] == "accuracy" and not row["status"]])
    return made


def parabolic(rows):
    """by the diffusion: seconds for a forward run and a gradient against the error of the gradient"""
    made = {}
    for diffusion in sorted({row["diffusion"] for row in rows}):
        picture = Figure((-2, -9), (-2, 2), f"Brusselator, 64 x 64 cells, diffusion {diffusion}",
                         ("relative error of the gradient", "seconds, run and gradient"), 420, 330, (True, True))
        for kind, (method, words) in enumerate(PARABOLIC.items()):
            points = [(math.log10(row["error_gradient"]), math.log10(row["both"])) for row in rows
                      if row["diffusion"] == diffusion and row["method"] == method and not row["status"]]
            picture.curve(points, f"c{kind}")
            picture.dots(points, 2.4, f"t{kind}")
            if points:
                picture.note(words, f"t{kind}")
        made[f"parabolic-{diffusion}"] = picture
    return made


def by_rtol(rows, problem):
    title = next(row["title"] for row in rows if row["set"] == "reference" and row["problem"] == problem)
    runs = [row for row in rows if row["set"] == "steps" and row["problem"] == problem and row["method"] == METHOD]
    picture = Figure((-3, -8), (-10, 8), f"{title}, {METHOD}", ("rtol", "relative error"), 420, 330, (True, True))
    lines = {mode: curve(runs, mode, "error_derivative") for mode in MODES}
    of_y = curve(runs, "stable", "error")
    for points, kind in [(of_y, 3)] + [(lines[mode], KINDS[mode]) for mode in MODES]:
        picture.curve(points, f"c{kind}")
        picture.dots(points, 2.4, f"t{kind}")
    for mode in MODES:
        picture.note(WORDS[mode], f"t{KINDS[mode]}")
    picture.note("y(t1), default", "t3")
    return picture


def curve(runs, mode, key):
    return [(math.log10(row["asked"]), math.log10(row[key])) for row in runs
            if row["mode"] == mode and not row["status"] and row[key]]


def scatter(rows):
    low, high = math.log10(KNOWN), 2
    pairs = [(math.log10(true), math.log10(estimate)) for row in rows
             for true, estimate in zip(row["errors"], row["estimates"]) if true and estimate and true > KNOWN]
    picture = Figure((low, high), (low, high), "estimates; lines: %g and %g times the true error" % NEAR,
                     ("true relative error", "estimated relative error"), 420, 418, (True, True))
    picture.points(pairs, "many")
    for ratio in NEAR:
        shift = math.log10(ratio)
        picture.curve([(low, low + shift), (high, high + shift)], "c1")
    return picture


if __name__ == "__main__":
    main()
