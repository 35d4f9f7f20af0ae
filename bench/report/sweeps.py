"""sweeps.py - rows of the race over tolerances, and what compares them at equal error."""
import os
import statistics
import sys

from report.tables import curve, faster_at, gain

QUICK = os.environ.get("BENCH_QUICK") == "1" or "--quick" in sys.argv


def tolerances(*exponents):
    return [float("1e-%d" % k) for k in ((4, 6) if QUICK else exponents)]


def widened(code, tols):
    """At the same tolerance codes differ by orders in error: loose ones here, tight ones there make them overlap."""
    if len(tols) < 2 or code.startswith("hairer"):
        return tols
    if code.startswith("costate"):
        return [min(0.1, tols[0] * 10)] + tols
    return tols + [tols[-1] / 10, tols[-1] / 100, tols[-1] / 1000]


def bdf(run, solver, *more):
    return ("%s:bdf" % run.peer, solver, *more)


def adams(run):
    return ("%s:adams" % run.peer, "auto")


def packaged(run, entries):
    """the same of CVODES again, by the packaged library"""
    return [("packaged:" + code.split(":")[1], *rest) for code, *rest in entries
            if code.startswith("cvodes:") and run.has["packaged"]]


def sweep(run, entries, problem, tols, mode="adj", once=False, **more):
    """{name: rows} over tolerances for entries (code, solver), (code, solver, flags, suffix) or with tolerances of
    its own, (code, solver, flags, suffix, tols).  All of them take turns
    (once: one), so that each turn's rows have met the same machine: they are compared with each other."""
    table = {}
    ladders = [rest[3] if len(rest) > 3 else widened(code, tols) for code, *rest in entries]
    for turn in range(1 if once else run.turns):
        for k in range(max(len(ladder) for ladder in ladders)):
            for (code, solver, *extra), ladder in zip(entries, ladders):
                flags, suffix, *_ = extra if extra else ((), "")
                if k < len(ladder):
                    row = run.row(code, problem, solver=solver, rtol=ladder[k], mode=mode, flags=flags, turn=turn,
                                  **more)
                    turns = table.setdefault(row["name"] + suffix, {}).setdefault(ladder[k], [])
                    turns.append(row)
    return {name: [over_turns(turns) for turns in rows.values()] for name, rows in table.items()}


def over_turns(turns):
    """one row, of median times; the turns stay in it"""
    row = dict(next((r for r in turns if r.get("status")), turns[0]), turns=turns)
    for time_of in ("forward", "backward", "seconds"):
        if not row.get("status"):
            row[time_of] = statistics.median(r[time_of] for r in turns)
    return row


def show(rep, title, table, picture=None, error="error_derivative"):
    rep.table(title, [row for rows in table.values() for row in rows])
    if picture:
        rep.picture(picture, title, {name: curve(rows, error) for name, rows in table.items()},
                    "relative error of y" if error == "error" else "relative error of the gradient")


def at_equal_error(table, ours, theirs, error="error_derivative"):
    """The best of ours (names) against the best of theirs at each error: (gain, our name)"""
    peers = [row for name in theirs for row in table.get(name, [])]
    found = [(gain(table.get(name, []), peers, error), name) for name in ours]
    return max((f for f in found if f[0]), key=lambda f: f[0].median, default=(None, None))


def compete(rep, table, what, ours, theirs, limit, error="error_derivative"):
    """A target at equal error, and the ratio's line in the report."""
    found, name = at_equal_error(table, ours, theirs, error)
    name = name or ours[0]
    peer = " or ".join(theirs)
    if limit:
        rep.target("%s: %s, times faster than %s at equal error" % (what, name, peer), found and found.median, limit,
                   True)
    rep.ratio(what, name, peer, found)
    return found


def ratio(row):
    return None if row.get("status") else row.get("ratio")


ASKED = (1e-4, 1e-6, 1e-8)                      # of CVODES
STABILISED = {"forward": "rock4", "adj": "rkc2"}         # with a tape the degree of rock4 is at most 13


def ladder(exponents):
    return [float("1e-%d" % k) for k in (exponents[:3] if QUICK else exponents)]


def preconditioned(run, mode):
    """CVODES with ILU(0), in the ways that were best somewhere: side, space, and atol of the adjoint"""
    tols = ladder((4, 6, 8))
    choices = [((), ""), (("--right",), " right"), (("--krylov", "10"), " 10")]
    if mode == "adj":
        choices = choices[:2] + [(side + ("--adjoint-atol", x), name + " atol " + x)
                                 for side, name in choices[:2] for x in ("1e-1", "1e-3")]
    return [bdf(run, "gmres", ("--ilu",) + flags, name, tols) for flags, name in choices]


def best_at(table, peer, rtol, error, ours=None):
    """the best of ours (names; None: all that are not the peer's) against each way of a peer at the error that it
    reached: (Gain, ours, the way, its row) of the way that is best for it"""
    ours = [name for name in table if not name.startswith(peer)] if ours is None else ours
    ways = []
    for name in (n for n in table if n.startswith(peer)):
        reached = [row for row in table[name] if row["asked"] == rtol and not row.get("status")]
        found = [(faster_at(table[own], row, error), own, name, row) for row in reached for own in ours]
        ways += [max((f for f in found if f[0]), key=lambda f: f[0].median, default=None)]
    return min((w for w in ways if w), key=lambda w: w[0].median, default=None)


def asked_of_peers():
    return ASKED[:1] if QUICK else ASKED


def gain_cells(found, error):
    """of what best_at found: the error, the ratio, its range over turns"""
    return ["%.1e" % found[3][error], "%.2f" % found[0].median, "%.2f to %.2f" % found[0][1:]]


def peer_table(rep, what, said, error, found):
    """found: {rtol: best_at}"""
    rows = [["%.0e" % rtol, f[1], f[2]] + gain_cells(f, error) for rtol, f in found.items() if f]
    rep.plain_table("%s: times faster than %s at its error" % (what, said),
                    ["rtol", "costate", said, "error", "ratio", "turns"], rows)


def best_against(run, rep, table, what, error, limit):
    """a target at each tolerance of CVODES"""
    found = {rtol: best_at(table, run.peer, rtol, error) for rtol in asked_of_peers()}
    for rtol, f in found.items():
        rep.target("%s: times faster than CVODES at its error at rtol %g" % (what, rtol), f and f[0].median, limit,
                   True)
    peer_table(rep, what, "CVODES", error, found)


def timed(row, time):
    """the row with one of its times as the one that counts"""
    if not time or row.get("status"):
        return row
    return dict(row, seconds=row[time], turns=[dict(turn, seconds=turn[time]) for turn in row["turns"]])


def alternatives(run, code, problem, ways, **more):
    """[(flags, times over those of the first way in each turn, seconds, row)] for ways to set the options of a code"""
    turns = [[run.row(code, problem, flags=flags, turn=turn, **more) for flags in ways] for turn in range(run.turns)]
    return [(flags, [t[k]["seconds"] / t[0]["seconds"] for t in turns if t[k].get("seconds") and t[0].get("seconds")],
             statistics.median(t[k].get("seconds") or float("nan") for t in turns), turns[0][k])
            for k, flags in enumerate(ways)]
