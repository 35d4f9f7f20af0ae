"""Figures of error against work: a method among those of its family, from what bench/work_precision printed."""
import json
from functools import lru_cache
from pathlib import Path

from drawing import BLUE, GREY, axes

MEASURES = (("f", "calls of f"), ("time", "seconds"))


@lru_cache
def read_work(path):
    """Rows by problem, then by method, in the order of the file; none if there is no file (None)."""
    found = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines() if path else []:
        row = json.loads(line)
        if row["error"] and row["time"]:             # null: not finite; 0: nothing for a logarithm
            found.setdefault(row["problem"], {}).setdefault(row["method"], []).append(row)
    return found


def curve(rows, measure):
    return [(row["error"], row[measure]) for row in rows if row[measure]]


def work_figures(name, family, found):
    """(name of the file, alternative text, figure) of each problem and measure that the method has rows of; family: the
    names of all that are shown with it"""
    figures = []
    for problem, runs in found.items():
        for measure, words in MEASURES if name in runs else ():
            curves = {other: curve(runs[other], measure) for other in family if other in runs}
            if len(curves[name]) >= 2:
                title = runs[name][0]["title"]
                figures.append((f"{name}-{problem}-{measure}.svg", f"{words} against error, {title}",
                                drawn(name, curves, title, words)))
    return figures


def drawn(name, curves, title, words):
    figure, place = axes(title, ("error", words), xscale="log", yscale="log")
    for other, points in curves.items():
        if points and other != name:
            place.plot(*zip(*points), color=GREY, linewidth=0.8)
    place.plot(*zip(*curves[name]), color=BLUE, marker=".")
    place.invert_xaxis()
    return figure
