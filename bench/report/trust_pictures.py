"""trust_pictures.py ROWS DIRECTORY - pictures of the documents from measured rows.

ROWS: build/bench/trust.json of `./run bench trust`, or what build/bench/adi prints.  DIRECTORY: docs/pictures.  They
are drawn by Matplotlib in the style of the tutorials."""
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "docs", "tutorials"))
sys.path.insert(0, os.path.join(ROOT, "bench"))

from parts.trust import KNOWN, MODES, NEAR                          # noqa: E402

METHOD = "dopri5"
WORDS = {"plain": "gradient, stability off", "stable": "gradient, default",
         "controlled": "gradient, gradient_control = 1"}
PARABOLIC = {"w6s4os": "w6s4os, ADI splitting", "rock4": "rock4", "ark436_adi": "ark436, GMRES with ADI",
             "ark436_ilu": "ark436, GMRES with ILU"}
COLOURS = {"plain": "C1", "stable": "C2", "controlled": "C0"}


def main():
    from make_pictures import set_style
    set_style()
    with open(sys.argv[1], encoding="utf-8") as file:
        made = by_set([json.loads(line) for line in file])
    for name, picture in made.items():
        picture.savefig(os.path.join(sys.argv[2], name + ".svg"))


def by_set(rows):
    return parabolic(rows) if rows[0]["set"] == "adi" else trusted(rows)


def axes(title, xlabel, ylabel, size=(5, 3.8)):
    from matplotlib import pyplot
    figure, ax = pyplot.subplots(figsize=size, layout="constrained")
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel, xscale="log", yscale="log")
    ax.title.set_fontsize("medium")
    return figure, ax


def trusted(rows):
    made = {"gradient-" + name.replace("_", "-"): by_rtol(rows, name) for name in ("swe_40", "vdpol_50")}
    made["estimates"] = scatter([row for row in rows if row["set"] == "accuracy" and not row["status"]])
    return made


def parabolic(rows):
    """by the diffusion: seconds for a forward run and a gradient against the error of the gradient"""
    made = {}
    for diffusion in sorted({row["diffusion"] for row in rows}):
        figure, ax = axes(f"Brusselator, 64 x 64 cells, diffusion {diffusion}", "relative error of the gradient",
                          "seconds, run and gradient")
        for method, words in PARABOLIC.items():
            points = [(row["error_gradient"], row["both"]) for row in rows
                      if row["diffusion"] == diffusion and row["method"] == method and not row["status"]]
            if points:
                ax.plot(*zip(*points), "o-", markersize=4, label=words)
        ax.set(xlim=(1e-2, 1e-9), ylim=(1e-2, 1e2))
        ax.legend()
        made[f"parabolic-{diffusion}"] = figure
    return made


def by_rtol(rows, problem):
    """errors of y and of the gradient by three ways of choosing steps"""
    title = next(row["title"] for row in rows if row["set"] == "reference" and row["problem"] == problem)
    runs = [row for row in rows if row["set"] == "steps" and row["problem"] == problem and row["method"] == METHOD]
    figure, ax = axes(f"{title}, {METHOD}", "rtol", "relative error")
    for mode in MODES:
        ax.plot(*curve(runs, mode, "error_derivative"), "o-", markersize=4, color=COLOURS[mode], label=WORDS[mode])
    ax.plot(*curve(runs, "stable", "error"), "o-", markersize=4, color="C4", label="y(t1), default")
    ax.set(xlim=(1e-3, 1e-8), ylim=(1e-10, 1e8))
    ax.legend()
    return figure


def curve(runs, mode, key):
    points = [(row["asked"], row[key]) for row in runs if row["mode"] == mode and not row["status"] and row[key]]
    return tuple(zip(*points)) or ((), ())


def scatter(rows):
    """each place of a pixel once, as an image: the points are thousands"""
    pairs = [(true, estimate) for row in rows for true, estimate in zip(row["errors"], row["estimates"])
             if true and estimate and true > KNOWN]
    figure, ax = axes("estimates; lines: %g and %g times the true error" % NEAR, "true relative error",
                      "estimated relative error", (5, 4.8))
    ax.plot(*(zip(*pairs) if pairs else ((), ())), ".", markersize=2.5, alpha=0.5, rasterized=True)
    for ratio in NEAR:
        ax.plot((KNOWN, 1e2), (ratio * KNOWN, ratio * 1e2), color="C1", linewidth=1.2)
    ax.set(xlim=(KNOWN, 1e2), ylim=(KNOWN, 1e2))
    return figure


if __name__ == "__main__":
    main()
