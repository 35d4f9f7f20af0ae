"""The C text of a method of family rkc.  What it assumes of the C side:

    struct costate_rkc {             all degrees of a stabilised explicit method; codegen/rkc/degree.py has the formulas
        int degrees;                 how many
        int r;                       stages after the recurrence: 0, 2 or 4
        const int *s;                degrees: evaluations of f a step, ascending
        const int *first;            degrees + 1: the coefficients of j = 1 .. m of degree s[k] are at first[k] + j - 1,
                                     m = s[k] - r = first[k+1] - first[k]
        const double *beta;          degrees: stable where h rho <= beta[k]; ascending
        const double *noise;         degrees: independent errors of 1 in all stages change y+ by this, root mean square
                                     over the spectrum of a 1-D Laplacian with h rho = beta (ROCK4: up to 4e14)
        const double *mu, *nu;       first[degrees], as what follows
        const double *mut;
        const double *eta, *gat;     NULL where all are 0 (rock).  eta + mu + nu is 1 exactly, in doubles
        const double *c;             c_1 .. c_m; c_0 = 0
        const double *A;             degrees * r(r-1)/2: the rows 2 .. r; NULL for r = 0, as the next three
        const double *b;             degrees * r
        const double *cr;            degrees * r: times of Y_1 .. Y_r
        const double *e;             degrees * r: est = ey (y - y+) + h (e0 f_0 + sum_i e_i F_i + e1 f(t + h, y+))
        const double *e1;            degrees
        double ey, e0;
    };

and of costate_method a pointer `rkc` to it, with family COSTATE_RKC and, in s, the highest degree.  Dense output is
Hermite's cubic with f at both ends."""
from decimal import Decimal, localcontext

from ..emit import quote
from ..real import double
from .degree import times
from .doubles import eta
from .read import PRECISION

A_LINE = 6


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
    text.append(struct("costate_method", f"method_{name}", descriptor(m)))
    return "\n".join(text) + "\n"


def descriptor(m):
    dense = min(m.keys["order"], 3)
    return [(key, quote(m.keys[key])) for key in ("name", "title", "source")] + [
        ("family", "COSTATE_RKC"), ("s", str(m.degrees[-1].s)), ("order", str(m.keys["order"])),
        ("embedded", str(m.keys["embedded"])), ("dense", str(dense)), ("degree", "3"),
        ("r_infinity", "NAN"), ("rounding", double(max(f.rounded for f in m.found))),
        ("rkc", f"&rkc_{m.keys['name']}")]


def struct(kind, label, fields):
    body = ",\n".join(f"    .{key} = {value}" for key, value in fields)
    kind = kind if kind == "costate_method" else f"struct {kind}"
    return f"static const {kind} {label} = {{\n{body}\n}};"


def joined(rows):
    return [x for row in rows for x in row]


def lines(values, kind):
    literals = [str(x) if kind == "int" else double(x) for x in values]
    return ",\n".join("    " + ", ".join(literals[k:k + A_LINE]) for k in range(0, len(literals), A_LINE))
