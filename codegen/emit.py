"""The C source with the descriptors of all methods (struct costate_method of src/step/method.h)."""
from fractions import Fraction

from .real import double
from .scale import factor

FLAGS = {"fsal": "FSAL", "stiffly-accurate": "STIFFLY_ACCURATE", "A-stable": "A_STABLE", "L-stable": "L_STABLE",
         "dae": "DAE", "w-method": "W_METHOD", "explicit-first": "EXPLICIT_FIRST"}


def source(methods):
    """methods: (name, the C text of its descriptor) each"""
    parts = ["/* The methods: made by codegen from the coefficient files, not to be edited. */",
             "#include <math.h>", '#include "step/method.h"', ""]
    parts += [text for _, text in methods]
    parts.append("const costate_method *const costate_method_table[] = {")
    parts += [f"    &method_{name}," for name, _ in methods]
    parts += ["    NULL", "};", ""]
    return "\n".join(parts)


def descriptor(m):
    t = m.table
    text, fields = [], []

    def array(key, values, kind="double"):
        if values is None:
            return
        label = f"{t.name}_{key}"
        text.append(f"static const {kind} {label}[] = {{\n    {literals(values)}\n}};")
        fields.append((key, label))

    def scalar(key, value):
        fields.append((key, value))

    for key in ("name", "title", "source"):
        scalar(key, quote(t.keys[key]))
    scalar("family", "COSTATE_" + t.family.upper())
    for key, value in (("s", m.s), ("order", t.order), ("embedded", m.embedded), ("dense", m.dense),
                       ("degree", m.degree)):
        scalar(key, str(value))
    scalar("is", " | ".join("COSTATE_" + FLAGS[p] for p in FLAGS if p in m.properties) or "0")
    scalar("r_infinity", "NAN" if m.r_infinity is None else double(m.r_infinity))
    scalar("rounding", double(m.tol))
    scalar("gamma", double(m.gamma))
    for key in ("A", "b", "c", "d"):
        array(key, getattr(m, key))
    scale = factor(m)
    for key in ("e", "e2", "ex"):
        values = getattr(m, key)
        array(key, values and [scale * x for x in values])
    text.append(f"static const double {t.name}_D[] = {{\n    {', '.join(dense_rows(m))}\n}};")
    fields.append(("D", f"{t.name}_D"))
    for key in ("W", "g"):
        array(key, getattr(m, key))
    for key in ("b0", "at", "theta0"):
        scalar(key, double(getattr(m, key)))
    for key in ("est0", "estx"):
        scalar(key, double(scale * getattr(m, key)))
    scalar("block", str(m.block))
    scalar("nreal", str(len(m.real)))
    scalar("npair", str(len(m.pairs)))
    if m.block:
        array("eig", m.real + [x for pair in m.pairs for x in pair])
    for key in ("T", "Ti", "theta", "C", "gi"):
        array(key, getattr(m, key))
    if m.newf:
        text.append(f"static const unsigned char {t.name}_newf[] = {{ {', '.join(map(str, m.newf))} }};")
        fields.append(("newf", f"{t.name}_newf"))
    body = ",\n".join(f"    .{key} = {value}" for key, value in fields)
    return "\n".join(text) + f"\nstatic const costate_method method_{t.name} = {{\n{body}\n}};\n"


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
