"""Figures of error against work: a method among those of its family, from what bench/work_precision printed."""
import json
import math

from figure import Figure

MEASURES = (("f", "calls of f"), ("time", "seconds"))


def read_work(path):
    """Rows by problem, then by method, in the order of the file."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path else []:
        row = json.loads(line)
        if row["error"] and row["time"]:             # null: not finite; 0: nothing for a logarithm
            found.setdefault(row["problem"], {}).setdefault(row["method"], []).append(row)
    return found


def curve(rows, measure):
    return [(math.log10(row["error"]), math.log10(row[measure])) for row in rows if row[measure]]


def bounds(values):
    low, high = min(values), max(values)
    room = 0.04 * (high - low) + 0.1
    return low - room, high + room


def work_figures(name, family, found):
    """(name of the file, alternative text, figure) of each problem and measure that the method has rows of; family: the
    names of all that are shown with it"""
    figures = []
    for problem, runs in found.items():
        if name not in runs:
            continue
        for measure, words in MEASURES:
            curves = {other: curve(runs[other], measure) for other in family if other in runs}
            points = [point for line in curves.values() for point in line]
            if len(curves[name]) < 2:
                continue
            title = runs[name][0]["title"]
            picture = Figure(bounds([x for x, _ in points])[::-1], bounds([y for _, y in points]), title,
                             ("error", words), log=(True, True))
            for other, line in curves.items():
                if other != name:
                    picture.curve(line, "others")
            picture.curve(curves[name], "c0")
            picture.dots(curves[name])
            figures.append((f"{name}-{problem}-{measure}.svg", f"{words} against error, {title}", picture.text()))
    return figures
