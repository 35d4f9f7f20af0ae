"""What is known of a method, as rows (what, text): found by codegen when it checks the method's file."""
from math import floor

from codegen.adi import Response, largest, sizes, wedge
from codegen.composite.report import beginnings, tolerance
from codegen.families import FAMILIES
from codegen.real import snap
from codegen.report import any_matrix, index_2, stage_order
from codegen.stability import error_constant

PROPERTIES = {
    "fsal": "the last stage is the first of the next step", "stiffly-accurate": "stiffly accurate: b is the last row",
    "A-stable": "A-stable", "L-stable": "L-stable", "dae": "M may be singular (index 1)",
    "w-method": "keeps its order with any matrix for the Jacobian", "explicit-first": "the first stage is explicit",
}


def family_words(family):
    return FAMILIES.get(family, family)


def facts(m, row):
    """row: of the table of methods, by its titles"""
    rows = [("family", f"{family_words(row['family'])} ({row['family']})"), ("stages", row["stages"])]
    rows += of_members(m, row) if hasattr(m, "members") else of_degrees(m) if hasattr(m, "degrees") else of_tableau(m)
    return [(what, text) for what, text in rows if text]


def of_tableau(m):
    t = m.table
    rows = [("order", str(t.order)), ("embedded", str(m.embedded or "")),
            ("error estimate", "" if m.embedded or t.family == "collocation" else "none: fixed steps, COSTATE_FIXED"),
            ("second embedded", str(m.embedded2 or "")),
            ("dense output", f"order {m.dense}, degree {m.degree}"),
            ("stage order", str(stage_order(m)) if t.family != "ros" else "")]
    rows += [("principal error norm", norm(m.conditions, m.weights, t.order))]
    if m.embedded_weights:
        conditions = m.embedded_conditions or m.conditions
        rows.append(("of the embedded one", norm(conditions, m.embedded_weights, m.embedded)))
    rows += [("R(infinity)", "unbounded" if m.r_infinity is None else "%.6g" % float(m.r_infinity)),
             ("error constant of R", "%.6g" % float(snap(error_constant(m.P, m.Q, t.order), m.tol)))]
    rows += of_daes(m)
    if m.block > 1:
        rows.append(("eigenvalues of A^-1", ", ".join(["%.8g" % float(x) for x in m.real] + [
            "%.8g \u00b1 %.8g i" % (float(x), float(y)) for x, y in m.pairs])))
    rows.append(("properties", "; ".join(words for key, words in PROPERTIES.items() if key in m.properties)))
    return rows


def of_daes(m):
    if m.table.family == "ros":
        return [("index 1", f"order {m.dae_order} for M y' = f with singular M"),
                ("any matrix", any_matrix(m)), *(of_w_methods(m) if "w-method" in m.properties else [])]
    if m.table.family in ("sdirk", "firk") and not m.g:
        return [("index 2", index_2(m))]
    return []


def of_w_methods(m):
    """with W that is not f_y"""
    R = Response(m)
    low, high = sizes(R)
    rows = [("size of W", f"|R| <= 1 for f_y = c W and all h where {low:.2g} <= c <= {high:.2f}")]
    for factors, axes in ((2, "quadrant"), (3, "octant")):
        rows.append((f"{factors} ADI factors", f"max |R| {largest(R, factors, 0):.4g} on the negative {axes}; "
                     f"|R| <= 1 {angle_words(wedge(R, factors))}"))
    return rows


def angle_words(angle):
    if angle is None:
        return "in no wedge"
    return f"if |arg(-z)| <= {floor(10 * angle) / 10:.1f} degrees for all of them"


def of_degrees(m):
    last = m.degrees[-1]
    return [("order", str(m.keys["order"])), ("order of y+ + est", str(m.keys["embedded"])),
            ("dense output", f"order {m.dense}"), ("degrees", f"{len(m.degrees)}, from {m.degrees[0].s} to {last.s}"),
            ("stable on", f"[-beta, 0], beta = {float(last.beta):.6g} for degree {last.s}, "
                          f"{float(last.beta / last.s ** 2):.4g} s^2"),
            ("damping", f"|R| is at most {max(f.interval.largest for f in m.found):.6f} after its fall from 1")]


def of_members(m, row):
    return [("order", row["order"]), ("dense output", f"order {row['dense']} at least"),
            ("variable order", "the calibrated members, during a run" if m.raises else "no"),
            ("R(infinity)", row["R(inf)"] and f"{row['R(inf)']}: the largest modulus of a stiff member"),
            ("properties", "; ".join(words for key, words in PROPERTIES.items() if key in m.properties))]


def members(m):
    """A row each: name, title, where a run begins with it, its tolerance; of explicit ones how far they are stable."""
    for x, begins in zip(m.members, beginnings(m)):
        numbers = ("", "", "") if x.stiff else (f"{x.real:.4g}", f"{x.waves:.4g}", f"{x.settles:.3g}")
        yield (x.name, x.facts.title, begins, tolerance(x), *numbers)


def norm(conditions, weights, order):
    return "%.6g" % float(conditions.principal_error(weights, order))
