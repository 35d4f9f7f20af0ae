"""The C source with the descriptors of all methods (struct costate_method of src/step/descriptor.h)."""
from fractions import Fraction

from .limits import limits
from .real import double
from .scale import factor

FLAGS = {"fsal": "FSAL", "stiffly-accurate": "STIFFLY_ACCURATE", "A-stable": "A_STABLE", "L-stable": "L_STABLE",
         "dae": "DAE", "w-method": "W_METHOD", "explicit-first": "EXPLICIT_FIRST"}


INCLUDES = ["#include <math.h>"]


def source(names, texts, layout=""):
    """names: of the methods, in the order of the table; texts: their descriptors in C, in an order in which each
    refers to earlier ones only; layout: checksum of the structs"""
    parts = ["/* The methods: made by codegen from the coefficient files, not to be edited. */",
             *INCLUDES, '#include "step/method.h"', ""]
    parts += texts
    parts.append("const costate_method *const costate_method_table[] = {")
    parts += [f"    &method_{name}," for name in names]
    parts += ["    NULL", "};", f'const char *const method_layout = "{layout}";', ""]
    return "\n".join(parts)


def descriptor(m):
    t = m.table
    text, fields = [], []

    def array(key, values, kind="double"):
        if values is None:
            return
        label = f"{t.name}_{key.rpartition('.')[2]}"
        text.append(f"static const {kind} {label}[] = {{\n    {literals(values)}\n}};")
        fields.append((key, label))

    def scalar(key, value):
        fields.append((key, value))

    scalar("name", quote(t.keys["name"]))
    for key in ("title", "source"):
        scalar("about." + key, quote(t.keys[key]))
    scalar("family", "COSTATE_" + t.family.upper())
    for key, value in (("s", m.s), ("order", t.order), ("est.order", m.embedded), ("dense.order", m.dense),
                       ("dense.degree", m.degree)):
        scalar(key, str(value))
    scalar("is", " | ".join("COSTATE_" + FLAGS[p] for p in FLAGS if p in m.properties) or "0")
    scalar("about.r_infinity", "NAN" if m.r_infinity is None else double(m.r_infinity))
    scalar("about.rounding", double(m.tol))
    scalar("gamma", double(m.gamma))
    for key in ("A", "b", "c", "d"):
        array(key, getattr(m, key))
    scale = factor(m)
    for key in ("e", "e2", "ex"):
        values = getattr(m, key)
        array("est." + key, values and [scale * x for x in values])
    text.append(f"static const double {t.name}_D[] = {{\n    {', '.join(dense_rows(m))}\n}};")
    fields.append(("dense.D", f"{t.name}_D"))
    array("limits", limits(m))
    for key in ("W", "g"):
        array(key, getattr(m, key))
    scalar("b0", double(m.b0))
    for key in ("at", "theta0"):
        scalar("est." + key, double(getattr(m, key)))
    for key, value in (("est.e0", m.est0), ("est.ex0", m.estx)):
        scalar(key, double(scale * value))
    scalar("block", str(m.block))
    scalar("nreal", str(len(m.real)))
    scalar("npair", str(len(m.pairs)))
    if m.block:
        array("eig", m.real + [x for pair in m.pairs for x in pair])
    array("est.theta", m.theta)
    for key in ("T", "Ti", "C", "gi"):
        array(key, getattr(m, key))
    if m.newf:
        text.append(f"static const unsigned char {t.name}_newf[] = {{ {', '.join(map(str, m.newf))} }};")
        fields.append(("newf", f"{t.name}_newf"))
    text.append(struct("costate_method", f"method_{t.name}", fields))
    return "\n".join(text) + "\n"


def struct(kind, label, fields):
    """fields: (member, value) each; a member of a member has a dot in its name"""
    body = ",\n".join(f"    .{key} = {value}" for key, value in fields)
    return f"static const {kind} {label} = {{\n{body}\n}};"


def literals(values):
    if values and isinstance(values[0], list):
        return ",\n    ".join(", ".join(map(double, row)) for row in values)
    return ", ".join(map(double, values))


def dense_rows(m):
    """Rows of D; their last entries are such that the doubles of a row add up to that of d."""
    for j, row in enumerate(m.D):
        head = [Fraction(float(x)) for x in row[:-1]]
        last = Fraction(float(m.d[j])) - sum(head)
        yield ", ".join([double(x) for x in row[:-1]] + [double(last)])


def quote(text):
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'
