"""The long entries of a W-method from its order conditions: `python3 -m codegen refine FILE`.

A file of a W-method that was derived here has short entries, which were chosen, and long ones, which follow from them:
those with which the conditions of wtrees.py hold up to the order of the file, and R(infinity) = 0 where it claims to
be L-stable.  Newton's iteration starts from the long entries of the file, of which six digits are enough.  Several of
the conditions depend on the others, so that a step takes a set of independent ones; at the end all of them hold."""
from decimal import Context, Decimal

from . import read
from .linalg import dot, independent_rows, solve, solve_vector, zeros
from .real import ONE, ZERO, Refused
from .wtrees import WConditions

LONG = 8                             # digits: an entry with fewer was chosen
DIFFERENCE = Decimal("1e-50")        # of 100 digits half are left
DEPENDENT = Decimal("1e-4")          # entries of a condition that depends on the others: those of six-digit errors
CONVERGED = Decimal("1e-45")         # residuals
MOST = 12                            # iterations; each doubles the digits
PRINTED = 40


def refined(doc):
    """The blocks alpha, gamma and b of a document with the long entries solved for: {(block, i, j): value}, of all
    entries."""
    t = read.table(doc)
    if t.alpha is None or t.family != "ros":
        raise Refused(f"{doc.path}: refine is for methods of the family ros with the blocks alpha, gamma and b")
    texts = {("b", 0, j): x for j, x in enumerate(sum((x for _, x in doc.blocks["b"]), []))}
    for key in ("alpha", "gamma"):
        texts |= {(key, i, j): x for i, (_, row) in enumerate(doc.blocks[key]) for j, x in enumerate(row)}
    value = {place: Decimal(x) for place, x in texts.items()}
    unknowns = [place for place, x in texts.items() if read.significant(x) > LONG]
    for _ in range(MOST):
        r = residuals(t, value)
        if max(abs(x) for x in r) < CONVERGED:
            return value
        for place, x in zip(unknowns, step(t, value, unknowns, r)):
            value[place] += x
    raise Refused(f"{doc.path}: Newton's iteration for the long entries does not converge")


def step(t, value, unknowns, r):
    """Newton's: the change of the unknowns, for the residuals r."""
    columns = [[(x - y) / DIFFERENCE for x, y in zip(residuals(t, value | {place: value[place] + DIFFERENCE}), r)]
               for place in unknowns]
    found = independent_rows([list(row) for row in zip(*columns)], [[-x] for x in r], DEPENDENT)
    if not found or len(found[0]) != len(unknowns):
        raise Refused(f"{t.path}: the conditions do not determine the {len(unknowns)} long entries")
    return [x for x, in solve(*found)]


def residuals(t, value):
    """of all conditions up to the order of the file, and R(infinity)"""
    alpha, gamma = (zeros(t.s, t.s) for _ in range(2))
    for (key, i, j), x in value.items():
        if key != "b":
            (alpha if key == "alpha" else gamma)[i][j] = x
    b, conditions = [value["b", 0, j] for j in range(t.s)], WConditions(alpha, gamma)
    r = [dot(b, conditions.weights(tree)) - conditions.wanted(tree)[0]
         for n in range(1, t.order + 1) for tree in conditions.trees(n)]
    if "L-stable" in t.claims:
        beta = [[x + y for x, y in zip(*rows)] for rows in zip(alpha, gamma)]
        r.append(ONE - dot(b, solve_vector(beta, [ONE] * t.s)))
    return r


def report(doc):
    """The blocks as they stand in a file."""
    value, lines, digits = refined(doc), [], Context(prec=PRINTED)

    def text(x):
        return format(digits.plus(x).normalize(), "f")
    for key in ("alpha", "gamma"):
        rows = [[value[key, i, j] for j in range(len(entries))] for i, (_, entries) in enumerate(doc.blocks[key])]
        lines += [f"{key:8} = '''", *(f"{text(sum(row, ZERO))} | {' '.join(text(x) for x in row)}".strip()
                                      for row in rows), "'''"]
    b = [text(value["b", 0, j]) for j in range(len(rows))]
    return "\n".join([*lines, 'b        = """' + "  \\\n           ".join(b) + '"""'])
