"""The report of `check` on a composite method, and its row of the table of methods."""
from ..document import PROPERTIES
from ..table import yes


def report(m):
    lines = [f"{m.path}: {m.keys['title']}",
             f"  family          composite, {len(m.members)} members" + (", of variable order" if m.raises else ""),
             f"  {'members':15s} {'begin where':49s} {'tolerance':12s} {'real':>9s} {'settles':>8s} {'waves':>8s}"]
    for x, begins in zip(m.members, beginnings(m)):
        explicit = "" if x.stiff else f"{x.real:9.4g} {x.settles:8.4f} {x.waves:8.4g}"
        lines.append(f"    {x.name:13s} {begins:49s} {tolerance(x):12s} {explicit}".rstrip())
    lines.append("  found           " + (", ".join(p for p in PROPERTIES if p in m.properties) or "no property"))
    return "\n".join(lines)


def beginnings(m):
    """For which runs each member is the first of its kind."""
    for x in m.members:
        if x.splits:
            yield "stiff, where a preconditioner splits"
            continue
        group = [y for y in m.general if y.stiff == x.stiff]
        above = [y.rtol for y in group[:group.index(x)] if not y.second]
        words = "stiff" if x.stiff else "explicit"
        cheap = f" ({x.rtol_cheap:g})" if x.rtol_cheap else ""
        bounds = [f"rtol >= {x.rtol:g}{cheap}"] if x.rtol else []
        bounds += [f"rtol < {min(above):g}"] if above else []
        yield f"{words}, " + (" and ".join(bounds) or "any rtol") + (", second derivatives" if x.second else "")


def tolerance(x):
    return f"0.1 rtol^{x.power:.3g}" if x.calibrated else "rtol"


def row(m):
    stable = "L" if "L-stable" in m.properties else "A" if "A-stable" in m.properties else ""
    least, most = m.least("order"), m.most("order")
    return (m.name, m.keys["title"], "composite", f"{m.least('s')} to {m.most('s')}",
            f"{least} to {most}" if most > least else str(least), str(m.least("dense")), stable,
            "" if m.r_infinity is None else f"{float(m.r_infinity):.2g}", yes("stiffly-accurate" in m.properties),
            yes("dae" in m.properties))
