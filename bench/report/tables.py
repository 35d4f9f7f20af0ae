"""report.py - tables, targets and pictures of the benchmark, on the terminal and as Markdown."""
import collections
import math
import os
import statistics
import subprocess

Gain = collections.namedtuple("Gain", "median low high")     # their time over ours

COLUMNS = [("code", 8, "s"), ("method", 9, "s"), ("solver", 8, "s"), ("rtol", 7, ".0e"), ("steps", 6, "d"),
           ("rejected", 4, "d"), ("f", 6, "d"), ("jac", 5, "d"), ("tangents", 6, "d"), ("adjoints", 6, "d"),
           ("second", 6, "d"), ("decompositions", 5, "d"), ("complex", 5, "d"), ("solves", 6, "d"), ("krylov", 6, "d"),
           ("forward", 9, ".3g"), ("backward", 9, ".3g"), ("error", 8, ".1e"), ("error_derivative", 8, ".1e")]
TITLES = {"rejected": "rej", "decompositions": "LU", "complex": "cLU", "forward": "fwd s", "backward": "bwd s",
          "error": "err y", "error_derivative": "err d", "tangents": "Jv", "adjoints": "J'v", "second": "2nd"}


def cell(value, form):
    if value is None:
        return "-"
    return format(value, form)


def number(x, form="%.2f"):
    return "-" if x is None else form % x


class Report:
    def __init__(self, out):
        self.out = out
        self.lines = []
        self.targets = []
        self.ratios = []

    def say(self, text=""):
        print(text, flush=True)
        self.lines.append(text)

    def heading(self, text):
        self.say()
        self.say("### " + text)
        self.say()

    def table(self, title, rows):
        """rows of race; those that failed say so"""
        self.heading(title)
        self.say("```")
        self.say(" ".join(format(TITLES.get(name, name), ("<" if form == "s" else ">") + str(width))
                          for name, width, form in COLUMNS))
        for row in rows:
            if row.get("status"):
                self.say("%-8s %-9s %-8s %7.0e failed: %s" % (row.get("code", ""), row.get("method", ""),
                                                             row.get("solver", ""), row["asked"], row["message"]))
                continue
            self.say(" ".join(format(cell(row.get(name), form), ("<" if form == "s" else ">") + str(width))
                              for name, width, form in COLUMNS))
        self.say("```")

    def plain_table(self, title, head, rows):
        widths = [max(len(str(r[k])) for r in [head] + rows) for k in range(len(head))]
        self.heading(title)
        self.say("```")
        for r in [head] + rows:
            rest = [str(x).rjust(w) for x, w in zip(r[1:], widths[1:])]
            self.say("  ".join([str(r[0]).ljust(widths[0])] + rest).rstrip())
        self.say("```")

    def target(self, text, reached, limit, at_least=False):
        """reached None: could not be measured"""
        if reached is None or not math.isfinite(reached):
            verdict = "not measured"
        elif (reached >= limit) if at_least else (reached <= limit):
            verdict = "met (%.3g)" % reached
        else:
            verdict = "MISSED (reached %.*g)" % (4 if abs(reached - limit) < 0.01 * limit else 3, reached)
        line = "%s %s %g: %s" % (text, ">=" if at_least else "<=", limit, verdict)
        self.targets.append(line)
        self.say("target: " + line)

    def ratio(self, what, ours, peer, found):
        """found: a Gain, or None"""
        values = [1 / x for x in (found.median, found.high, found.low)] if found else []
        values = [("%.2f" if x >= 0.1 else "%.2g") % x for x in values]
        self.ratios.append([what, ours, peer] + ([values[0], "%s to %s" % tuple(values[1:])] if found
                                                 else ["-", "-"]))

    def ratio_lines(self):
        """Markdown: the smaller the faster"""
        head = ["problem", "costate", "peer", "costate's time / peer's, equal error", "turns"]
        return ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head)] + self.ratios]

    def picture(self, name, title, curves, xlabel="relative error of the gradient"):
        """curves: {name: [(error, seconds)]}; a work-precision diagram as PNG"""
        curves = {k: sorted(v) for k, v in curves.items() if v}
        if not curves:
            return
        data, image = (os.path.join(self.out, name + end) for end in (".dat", ".png"))
        with open(data, "w") as file:
            for label, points in curves.items():
                file.write('"%s"\n' % label)
                file.writelines("%g %g\n" % p for p in points)
                file.write("\n\n")
        script = ("set terminal pngcairo size 900,650; set output '%s'; set logscale xy; set format xy '10^{%%L}'; "
                  "set title '%s'; set xlabel '%s'; set ylabel 'seconds'; set grid; set key outside; "
                  "plot for [i=0:%d] '%s' index i using 1:2 with linespoints lw 2 pt i+4 dt 1+i/8 title columnhead(1)"
                  % (image, title, xlabel, len(curves) - 1, data))
        try:
            subprocess.run(["gnuplot", "-e", script], check=True, stderr=subprocess.PIPE)
            print("picture: " + image)
        except (OSError, subprocess.CalledProcessError) as error:
            print("no picture %s: %s" % (image, error))


# ---- at equal error ------------------------------------------------------------------------------------------------


def curve(rows, error="error_derivative"):
    """(error, seconds) of the rows that have both"""
    return [(r[error], r["seconds"]) for r in rows if not r.get("status") and r.get(error) and r.get("seconds")]


def front(points):
    """without points that another one beats in both, by falling error"""
    best = []
    for e, t in sorted(points, key=lambda p: (p[1], p[0])):
        if not best or e < best[-1][0]:
            best.append((e, t))
    return best


def time_at(points, e):
    """log-log interpolation on a front; errors fall"""
    for (e0, t0), (e1, t1) in zip(points, points[1:]):
        if e1 <= e <= e0:
            s = (math.log(e0) - math.log(e)) / (math.log(e0) - math.log(e1))
            return math.exp((1 - s) * math.log(t0) + s * math.log(t1))
    return None


def speedup(ours, theirs):
    """their time over ours at equal error: the median over the common range; None where there is none"""
    ours, theirs = front(ours), front(theirs)
    if len(ours) < 2 or len(theirs) < 2:
        return None
    low = math.log(max(ours[-1][0], theirs[-1][0]))
    high = math.log(min(ours[0][0], theirs[0][0]))
    if high <= low:
        return None
    ratios = []
    for k in range(9):
        e = math.exp(low + (high - low) * (0.01 + 0.98 * k / 8))
        a, b = time_at(ours, e), time_at(theirs, e)
        if a and b:
            ratios.append(b / a)
    return statistics.median(ratios) if ratios else None


def faster_at(ours, peer, error):
    """how many times faster ours are than one row of a peer at its error, by turns; a Gain, or None"""
    found = []
    for turn in range(min((len(row["turns"]) for row in ours + [peer]), default=0)):
        mine = front(curve([row["turns"][turn] for row in ours], error))
        for e, t in curve([peer["turns"][turn]], error):
            least = mine[0][1] if mine and e > mine[0][0] else time_at(mine, e)      # our loosest is better than that
            found += [t / least] if least else []
    return Gain(statistics.median(found), min(found), max(found)) if found else None


def gain(ours, theirs, error):
    """speedup by turns: ours and theirs are rows with the same number of turns, but for those that had only one"""
    count = min((len(row["turns"]) for row in ours + theirs), default=0)
    found = [speedup(*(curve([row["turns"][turn] for row in rows], error) for rows in (ours, theirs)))
             for turn in range(count)]
    found = [f for f in found if f]
    return Gain(statistics.median(found), min(found), max(found)) if found else None
