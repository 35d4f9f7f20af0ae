"""The coefficient files of family rkc: keys, degrees, parameters; and the method that they define, proved."""
from dataclasses import dataclass
from decimal import Decimal, localcontext
from pathlib import Path

from ..document import TEXT, TEXTS, WHOLE, check_kinds, check_place, check_whole, document, naming, split_block
from ..expr import evaluate
from ..real import EXACT, Refused, brief, short, tolerance
from .closed import rkc2, rkl2
from .proof import prove
from .rock import rock

PRECISION = 50                       # of the arithmetic; the order conditions hold to what `digits` says
CLOSED = {"chebyshev": rkc2, "legendre": rkl2}
KEYS = {key: TEXT for key in TEXTS + ("checked", "formula", "eps", "damping", "beta", "degrees", "polynomials")} \
    | {key: WHOLE for key in ("order", "embedded", "digits")}
NEEDED = TEXTS + ("order", "embedded", "formula", "damping", "beta")
MOST = 1000                          # of a degree
MOST_ORDER = 6
LIMIT = Decimal("0.002")             # beta of the highest degree is what the file says up to this part,
ATTAINED = Decimal("0.02")           # and so is the damping of the worst degree


@dataclass
class Method:
    path: str
    keys: dict
    tol: object
    damping: object
    degrees: list                    # Degree, in the working precision
    found: list                      # Found, of each

    @property
    def name(self):
        return self.keys["name"]

    @property
    def dense(self):
        """Order of the dense output, Hermite's cubic."""
        return min(self.keys["order"], 3)


def is_rkc(path):
    """Whether the file says that it is of this family."""
    return document(path).keys.get("family") == "rkc"


def method(path):
    """The method of a file; Refused, with the file's name, when anything in it is wrong."""
    with naming(path), localcontext(prec=PRECISION):
        return derive(str(path), document(path).keys)


def derive(path, keys):
    check_keys(Path(path), keys)
    damping = value(keys["damping"], "damping")
    if not 0 < damping < 1:
        raise Refused("damping: must be between 0 and 1")
    degrees = rock_degrees(keys) if keys["formula"] == "rock" else closed_degrees(keys)
    tol = tolerance(keys["digits"]) if "digits" in keys else EXACT
    m = Method(path, keys, tol, damping, degrees,
               [prove(d, keys["order"], keys["embedded"], damping, tol) for d in degrees])
    claims(m)
    return m


def check_keys(path, keys):
    check_kinds(keys, KEYS, NEEDED)
    check_whole(keys, MOST_ORDER)
    if keys["family"] != "rkc":
        raise Refused(f"family: '{brief(keys['family'])}' is not rkc")
    check_place(path, keys["name"], keys["family"])
    if keys["formula"] not in (*CLOSED, "rock"):
        raise Refused(f"formula: '{brief(keys['formula'])}' is none of {', '.join((*CLOSED, 'rock'))}")
    wanted, other = ("polynomials", "degrees") if keys["formula"] == "rock" else ("degrees", "polynomials")
    if wanted not in keys or other in keys or ("eps" in keys) != (keys["formula"] == "chebyshev"):
        raise Refused(f"formula: '{keys['formula']}' takes {wanted}, not {other}, and eps with chebyshev only")


def value(text, place, **names):
    try:
        return evaluate(text, names)
    except Refused as fault:
        raise Refused(f"{place}: {fault}") from None


def closed_degrees(keys):
    """`degrees` lists numbers and ranges such as 2-25."""
    listed = []
    for word in keys["degrees"].split():
        first, dash, last = word.partition("-")
        if not first.isdecimal() or dash and not last.isdecimal():
            raise Refused(f"degrees: '{brief(word)}' is neither a number nor a range as 2-25")
        listed += range(int(first), min(int(last or first), MOST) + 1)
    ascending(listed)
    eps = value(keys["eps"], "eps") if "eps" in keys else Decimal(0)
    return [CLOSED[keys["formula"]](s, eps) for s in listed]


def rock_degrees(keys):
    """A row a degree: s | s^2 (alpha_i - 1), s^2 beta_i for the pairs of zeros of w, s^2 (a - 1)."""
    lines, p = split_block(keys["polynomials"]), keys["order"]
    for k, (label, entries) in enumerate(lines, 1):
        if not label or not label.isdecimal():
            raise Refused(f"polynomials: row {k}: needs its degree before a bar")
        if len(entries) != p + 1:
            raise Refused(f"polynomials: degree {label}: {len(entries)} entries, should be {p + 1}")
    if p not in (2, 4):
        raise Refused("order: of formula rock must be 2 or 4")
    ascending([int(label) for label, _ in lines])
    found = []
    for label, entries in lines:
        numbers = [value(x, f"polynomials: degree {label}, entry {j}") for j, x in enumerate(entries, 1)]
        if int(label) <= p or any(not -1000 < x < 1000 for x in numbers):
            raise Refused(f"polynomials: degree {label}: not a method of this kind")
        try:
            found.append(rock(int(label), numbers))
        except ArithmeticError:                      # a division by zero, in Newton's iteration for the last stages
            raise Refused(f"polynomials: degree {label}: not a method of this kind") from None
    return found


def ascending(listed):
    if not listed or listed[0] < 2 or listed[-1] > MOST or any(x >= y for x, y in zip(listed, listed[1:])):
        raise Refused(f"the degrees must be between 2 and {MOST} and ascend")


def claims(m):
    """What the file says of beta (a formula in s and eps) and of damping holds, and not only as a bound."""
    last, names = m.degrees[-1], {"eps": value(m.keys.get("eps", "0"), "eps")}
    stated = value(m.keys["beta"], "beta", s=Decimal(last.s), **names)
    if abs(last.beta - stated) > LIMIT * stated:
        raise Refused(f"beta: for degree {last.s} {short(stated)} is stated, but it is {short(last.beta)}")
    worst = 1 - max(Decimal(f.interval.largest) for f in m.found)
    if worst > m.damping * (1 + ATTAINED):
        raise Refused(f"damping: {short(m.damping)} is stated, but it is {short(worst)}")
    betas = [d.beta for d in m.degrees]
    if any(x >= y for x, y in zip(betas, betas[1:])):
        raise Refused("beta does not grow with the degree")
