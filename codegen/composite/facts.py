"""What a composite method needs to know of its members."""
from typing import NamedTuple

from .. import limits as stability
from ..scale import floats

CAP = 0.95
SPAN = 1e4


class Facts(NamedTuple):
    """One form for methods of all families."""
    name: str
    title: str
    family: str
    s: int                           # of the C descriptor
    order: int
    embedded: int
    dense: int
    properties: frozenset
    r_infinity: object
    rounding: object


def facts(m):
    """of a method of codegen/method.py or codegen/rkc/read.py"""
    if hasattr(m, "degrees"):
        return Facts(m.name, m.keys["title"], "rkc", 4, m.keys["order"], m.keys["embedded"], m.dense,
                     frozenset(["fsal"]), None, max(f.rounded for f in m.found))
    t = m.table
    return Facts(m.name, t.keys["title"], t.family, m.s, t.order, m.embedded, m.dense, frozenset(m.properties),
                 m.r_infinity, m.tol)


def limits(m):
    """(real, settles, waves) of an explicit method"""
    if hasattr(m, "degrees"):
        return float(m.degrees[-1].beta), CAP, 0.0
    R = tuple(floats(m.P))
    return stability.first(R, 180, 0), CAP, stability.first(R, 90, 1 / SPAN)
