"""The C text of a method of family rkc: its degrees, a costate_rkc of src/step/descriptor.h, and its descriptor.

What the descriptor calls stages are the four variables that a record keeps (src/rkc/rkc.h), whatever the degree:
X = f_0, (y+ - y)/h, est/h, f_1, with dense output by Hermite's cubic in them."""
from decimal import Decimal, localcontext

from ..emit import quote, struct
from ..real import double
from .degree import times
from .doubles import eta
from .read import PRECISION

A_LINE = 6

# D_j(theta) = sum_k D_jk theta^k, in the order of X
HERMITE = ((1, -2, 1), (0, 3, -2), (0, 0, 0), (0, -1, 1))
MOVE, ERROR = (0, 1, 0, 0), (0, 0, 1, 0)


def method(m):
    """The arrays and the descriptors of a method of rkc/read.py."""
    name, text, fields = m.keys["name"], [], []
    found = [f.doubles for f in m.found]
    r, first = len(found[0].A), [0]
    for d in found:
        first.append(first[-1] + d.m)

    def array(key, values, kind="double"):
        label = f"{name}_rkc_{key}"
        text.append(f"static const {kind} {label}[] = {{\n{lines(values, kind)}\n}};")
        fields.append((key, label))

    fields += [("degrees", str(len(found))), ("r", str(r))]
    array("s", [d.s for d in found], "int")
    array("first", first, "int")
    array("beta", [d.beta for d in found])
    array("noise", [f.interval.noise for f in m.found])
    array("largest", [f.interval.largest for f in m.found])
    for key in ("mu", "nu", "mut"):
        array(key, joined(getattr(d, key) for d in found))
    if any(any(eta(d)) for d in m.degrees):
        array("eta", joined([1 - x - y for x, y in zip(d.mu, d.nu)] for d in found))
        array("gat", joined(d.gat for d in found))
    with localcontext(prec=PRECISION):
        clocks = [times(d, Decimal(1)) for d in m.degrees]
    array("c", joined(c[1:] for c, _ in clocks))
    if r:
        array("A", joined(sum(d.A, []) for d in found))
        array("b", joined(d.b for d in found))
        array("cr", joined(c for _, c in clocks))
        array("e", joined(d.e for d in found))
    array("e1", [d.e1 for d in found])
    fields += [("ey", double(found[0].ey)), ("e0", double(found[0].e0))]
    text.append(struct("costate_rkc", f"rkc_{name}", fields))
    for key, values in (("d", MOVE), ("e", ERROR), ("D", joined(HERMITE))):
        text.append(f"static const double {name}_{key}[] = {{ {', '.join(map(str, values))} }};")
    text.append(struct("costate_method", f"method_{name}", descriptor(m)))
    return "\n".join(text) + "\n"


def descriptor(m):
    name = m.keys["name"]
    return [
        ("name", quote(name)), ("about.title", quote(m.keys["title"])), ("about.source", quote(m.keys["source"])),
        ("family", "COSTATE_RKC"), ("s", str(len(HERMITE))), ("order", str(m.keys["order"])),
        ("est.order", str(m.keys["embedded"])), ("dense.order", str(m.dense)),
        ("dense.degree", str(len(HERMITE[0]))), ("is", "COSTATE_FSAL"), ("about.r_infinity", "NAN"),
        ("about.rounding", double(max(f.rounded for f in m.found))), ("d", f"{name}_d"), ("est.e", f"{name}_e"),
        ("dense.D", f"{name}_D"), ("rkc", f"&rkc_{name}")]


def joined(rows):
    return [x for row in rows for x in row]


def lines(values, kind):
    literals = [str(x) if kind == "int" else double(x) for x in values]
    return ",\n".join("    " + ", ".join(literals[k:k + A_LINE]) for k in range(0, len(literals), A_LINE))
