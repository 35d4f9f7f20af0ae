"""The C text of a composite method: its members, a composite of src/step/descriptor.h, and its descriptor."""
from ..emit import FLAGS, quote, struct
from ..real import double


def method(m):
    rows = ",\n".join(f"    {{ {row(x)} }}" for x in m.members)
    return "\n".join([
        f"static const composite_member {m.name}_member[] = {{\n{rows}\n}};",
        struct("composite", f"{m.name}_of", [("count", str(len(m.members))), ("raises", double(m.raises)),
                                             ("member", f"{m.name}_member")]),
        struct("costate_method", f"method_{m.name}", descriptor(m))]) + "\n"


def row(x):
    tighter, power = (0.1, x.power) if x.calibrated else (1, 1)
    fields = [("method", f"&method_{x.name}"), ("stiff", str(int(x.stiff))),
              ("stabilised", str(int(x.stabilised))), ("second", str(int(x.second))),
              ("splits", str(int(x.splits)))]
    fields += [(key, double(value)) for key, value in (
        ("rtol", x.rtol), ("rtol_cheap", x.rtol_cheap), ("tighter", tighter), ("power", power), ("real", x.real),
        ("settles", x.settles), ("waves", x.waves))]
    return ", ".join(f".{key} = {value}" for key, value in fields)


def descriptor(m):
    return [
        ("name", quote(m.name)), ("about.title", quote(m.keys["title"])), ("about.source", quote(m.keys["source"])),
        ("family", "COSTATE_COMPOSITE"), ("s", str(m.most("s"))), ("order", str(m.least("order"))),
        ("est.order", str(m.least("embedded"))), ("dense.order", str(m.least("dense"))),
        ("is", " | ".join("COSTATE_" + FLAGS[p] for p in FLAGS if p in m.properties) or "0"),
        ("about.r_infinity", "NAN" if m.r_infinity is None else double(m.r_infinity)),
        ("about.rounding", double(m.most("rounding"))), ("of", f"&{m.name}_of")]
