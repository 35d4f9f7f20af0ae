"""The table of all methods for docs/reference/methods.md, in markdown."""

HEADER = ("name", "method", "family", "stages", "order", "dense", "stability", "R(inf)", "stiffly accurate",
          "M singular")


def table(found):
    """found: a row each"""
    rows = [HEADER] + [tuple("-" * len(title) for title in HEADER)] + found
    widths = [max(len(r[j]) for r in rows) for j in range(len(HEADER))]
    return "\n".join("| " + " | ".join(x.ljust(w) for x, w in zip(r, widths)) + " |" for r in rows)


def row(m):
    t, found = m.table, m.properties
    stable = "L" if "L-stable" in found else "A" if "A-stable" in found else ""
    return (t.name, t.keys["title"], t.family, str(m.s) + (" + 1 explicit" if m.g else ""), orders(m), str(m.dense),
            stable, "" if m.r_infinity is None else f"{float(m.r_infinity):.2g}",
            yes("stiffly-accurate" in found), yes("dae" in found))


def orders(m):
    embedded = ", ".join(str(p) for p in (m.embedded, m.embedded2) if p)
    return f"{m.table.order}({embedded})" if embedded else str(m.table.order)


def yes(flag):
    return "yes" if flag else ""
