"""Formulas as terms: tuples (kind, part, ...), between SBML's formulas and the text of an equation file.

("number", x), ("name", identifier), ("time",), ("rate", identifier) for the derivative in time; ("+", a, ...),
("*", a, ...), ("-", a), ("-", a, b), ("/", a, b), ("^", a, b); ("<", a, b) and the other comparisons, ("and", a, ...),
("or", a, ...), ("not", a); ("if", condition, a, b); ("max", a, ...), ("exp", a) and other functions of the language."""
import math

COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
CONDITIONS = COMPARISONS | {"and", "or", "not"}
LEAVES = ("number", "name", "time", "rate")
ZERO, ONE = ("number", 0.0), ("number", 1.0)
TRUE, FALSE = ("==", ZERO, ZERO), ("==", ZERO, ONE)
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def substituted(term, name, time=None):
    """The term with name(identifier) instead of each name; time: instead of the time"""
    if term[0] == "name":
        return name(term[1])
    if term[0] == "time" and time is not None:
        return time
    if term[0] in LEAVES:
        return term
    return (term[0], *(substituted(part, name, time) for part in term[1:]))


def names(term):
    """The identifiers in a term, each once, in their order"""
    found = {}

    def walk(part):
        if part[0] == "name":
            found[part[1]] = True
        elif part[0] not in LEAVES:
            for each in part[1:]:
                walk(each)
    walk(term)
    return list(found)


def has(term, kinds):
    """Whether a part of the term is of one of these kinds"""
    return term[0] in kinds or term[0] not in LEAVES and any(has(part, kinds) for part in term[1:])


def number(x):
    return ("number", float(x))


def total(parts):
    parts = [part for part in parts if part != ZERO]
    return ZERO if not parts else parts[0] if len(parts) == 1 else ("+", *parts)


def product(*factors):
    """Zeros, ones and signs are simplified"""
    if ZERO in factors:
        return ZERO
    factors = [part for factor in factors for part in (factor[1:] if factor[0] == "*" else [factor])]
    factors = [factor for factor in factors if factor != ONE]
    negative = factors.count(("number", -1.0)) % 2 == 1
    factors = [factor for factor in factors if factor != ("number", -1.0)]
    a = ONE if not factors else factors[0] if len(factors) == 1 else ("*", *factors)
    return opposite(a) if negative else a


def opposite(a):
    return number(-a[1]) if a[0] == "number" else a[1] if a[0] == "-" and len(a) == 2 else ("-", a)


def quotient(a, b):
    if b == number(-1):
        return opposite(a)
    return a if b == ONE or a == ZERO else ("/", a, b)


def negated(condition):
    """not, moved inwards as far as it goes"""
    kind = condition[0]
    if kind in OPPOSITE:
        return (OPPOSITE[kind], *condition[1:])
    if kind == "not":
        return condition[1]
    if kind in ("and", "or"):
        return ("or" if kind == "and" else "and", *map(negated, condition[1:]))
    return ("==", condition, ZERO)


def settled(condition):
    """and, or, of which TRUE and FALSE are no longer parts"""
    kind, parts = condition[0], condition[1:]
    if kind not in ("and", "or"):
        return condition
    neutral, decides = (TRUE, FALSE) if kind == "and" else (FALSE, TRUE)
    left = [part for part in map(settled, parts) if part != neutral]
    return decides if decides in left else neutral if not left else left[0] if len(left) == 1 else (kind, *left)


def exhaustive(conditions):
    """Whether one of them certainly holds: a later one is the opposite of another one, or all compare one term with
    numbers, and one holds at each number, between them and beyond"""
    if any(negated(condition) in conditions for condition in conditions):
        return True
    atoms = [atom for condition in conditions for atom in comparisons(condition)]
    sides = {side for atom in atoms for side in atom[1:] if side[0] != "number"}
    if len(sides) != 1 or any(atom[1][0] == atom[2][0] for atom in atoms):
        return False
    term, at = sides.pop(), sorted({side[1] for atom in atoms for side in atom[1:] if side[0] == "number"})
    points = [at[0] - 1, *at, *((a + b)/2 for a, b in zip(at, at[1:])), at[-1] + 1]
    return all(any(value(replaced(condition, term, number(x)), None) for condition in conditions) for x in points)


def comparisons(condition):
    """The comparisons in a condition"""
    return [condition] if condition[0] in COMPARISONS else \
        [atom for part in condition[1:] if condition[0] in CONDITIONS for atom in comparisons(part)]


def replaced(term, part, by):
    return by if term == part else term if term[0] in LEAVES else (term[0], *(replaced(x, part, by) for x in term[1:]))


# ---- linear terms ----

def linear(term, unknown, depends):
    """(a, b) of term = a*unknown + b, where neither a nor b depends on it; None: the term is not of this form.

    depends(name): whether the identifier depends on the unknown"""
    if term == ("name", unknown):
        return ONE, ZERO
    if not any(depends(name) for name in names(term)):
        return ZERO, term
    kind, parts = term[0], [linear(part, unknown, depends) for part in term[1:]]
    if None in parts or kind == "name":
        return None
    if kind == "+":
        return total([a for a, _ in parts]), total([b for _, b in parts])
    if kind == "-":
        signs = [("number", -1.0)] if len(parts) == 1 else [ONE, ("number", -1.0)]
        return total([product(s, a) for s, (a, _) in zip(signs, parts)]), \
            total([product(s, b) for s, (_, b) in zip(signs, parts)])
    if kind == "*" and sum(a != ZERO for a, _ in parts) == 1:
        factors = [b for a, b in parts if a == ZERO]
        a, b = next(part for part in parts if part[0] != ZERO)
        return product(*factors, a), product(*factors, b)
    if kind == "/" and parts[1][0] == ZERO:
        return quotient(parts[0][0], parts[1][1]), quotient(parts[0][1], parts[1][1])
    return None


# ---- values ----

FUNCTIONS = {name: getattr(math, name) for name in (
    "exp log10 log2 log1p expm1 sqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf floor ceil "
    "atan2 hypot pow").split() if hasattr(math, name)} | {
    "log": math.log, "ln": math.log, "abs": abs, "min": min, "max": max, "mod": math.fmod,
    "sign": lambda x: (x > 0) - (x < 0)}


def value(term, of):
    """The number of a term; of(identifier): the value of a name.  At a time of 0; NaN where it is not defined"""
    try:
        return float(_value(term, of))
    except (ArithmeticError, ValueError):
        return math.nan


def _value(term, of):
    kind, parts = term[0], term[1:]
    if kind == "number":
        return parts[0]
    if kind in ("name", "time", "rate"):
        return of(parts[0]) if kind == "name" else 0.0
    if kind == "if":
        return _value(parts[1] if _value(parts[0], of) else parts[2], of)
    v = [_value(part, of) for part in parts]
    if kind in ("and", "or", "not"):
        return not v[0] if kind == "not" else all(v) if kind == "and" else any(v)
    if kind in COMPARISONS:
        return {"<": v[0] < v[1], "<=": v[0] <= v[1], ">": v[0] > v[1], ">=": v[0] >= v[1], "==": v[0] == v[1],
                "!=": v[0] != v[1]}[kind]
    if kind in "+*":
        return sum(v) if kind == "+" else math.prod(v)
    if kind == "-":
        return -v[0] if len(v) == 1 else v[0] - v[1]
    if kind in "/^":
        return v[0] / v[1] if kind == "/" else math.pow(*v)
    return FUNCTIONS[kind](*v)
