"""Dense output: continuous weights b_j(theta), from the file or from the order conditions for every theta
(mathematics, section 9.1)."""
from decimal import Decimal

from .check import continuous_order_exactly, equal
from .linalg import apply, dot, identity, independent_rows, multiply, solve, transpose
from .real import EXACT, ONE, ZERO, snap
from .trees import density, of_order, symmetry


def add(method, weights_of, forward):
    """Set B, D, dense, degree.  The weights b (all stages) of h f(Y) and D of the stage variables X belong
    together as b = weights_of^T D, D = forward b (of the unknown stages)."""
    t, s = method.table, method.s
    tol = method.tol if method.B else rounding(method)
    if method.B:
        D = [apply(forward, row[-s:]) for row in method.B]
        for k, (row, b) in enumerate(zip(D, method.B), 1):
            for j, x in enumerate(apply(transpose(weights_of), row)):
                equal(b[j], x, f"continuous: row {j + 1}: coefficient of theta^{k}", tol,
                      "the stages that are solved for need")
    else:
        D = derive(method, weights_of)
        method.B = [apply(transpose(weights_of), row) for row in D]
    q = t.dense if t.dense is not None else method.conditions.continuous_order(method.B, tol, t.order)
    continuous_order_exactly(method.conditions, method.B, method.weights, q, tol)
    method.dense, method.degree = q, len(D)
    method.D = transpose([[snap(x, method.tol) for x in row] for row in D])


def rounding(method):
    """What derived continuous weights satisfy: of rounded entries, they are less exact than these."""
    return method.tol if method.tol == EXACT else method.tol ** Decimal("0.75")


def derive(method, weights_of):
    """The smoothest output of the highest order there is: with the least weights D among those or, of explicit
    methods, the least error.

    The coefficients b_k of theta^k satisfy sum_i b_ki Phi_i(t) = [k = |t|]/gamma(t), one and the same
    matrix for every k; the solutions differ by its null space, which sum D_k = d and the slopes restrict."""
    for q in range(method.table.order, 0, -1):
        rows, rhs = conditions(method, q)
        system = independent_rows([apply(weights_of, row) for row in rows], rhs, rounding(method))
        if system:
            D = least(method, q, *system)
            return least_error(method, q, system[0], D) if is_explicit(method) else D
    raise AssertionError("order 1 is always attainable")


def is_explicit(method):
    return not method.W and not method.C


def conditions(method, q):
    rows, rhs = [], []
    for n in range(1, q + 1):
        for tree in of_order(n):
            rows.append(method.conditions.weights(tree))
            rhs.append([ONE / density(tree) if k == n else ZERO for k in range(1, q + 1)])
    return rows, rhs


def least(method, q, E, r):
    """Least-norm coefficients, with sum D_k = d; explicit methods: the slope at 0 is f(t,y), with FSAL that at 1 is
    f(t+h,y+)."""
    values, powers = [method.d], [lambda k: ONE]
    explicit = is_explicit(method)
    if explicit:
        values.append(identity(method.s)[0])
        powers.append(lambda k: ONE if k == 1 else ZERO)
    if explicit and "fsal" in method.properties:
        values.append(identity(method.s)[-1])
        powers.append(lambda k: k * ONE)
    degree = max(q, len(values))
    gram = multiply(E, transpose(E))
    particular = transpose(multiply(transpose(E), solve(gram, r)))          # rows D_1 .. D_q
    free = [null_part(E, gram, v) for v in values]
    C = [[power(k) for k in range(1, degree + 1)] for power in powers]
    M = multiply(transpose(C), solve(multiply(C, transpose(C)), free))      # null-space parts of D_1 .. D_degree
    return [[x + y for x, y in zip(particular[k], M[k])] if k < q else M[k] for k in range(degree)]


def null_part(E, gram, v):
    """The component of v in the null space of E."""
    coefficients = [x for x, in solve(gram, [[dot(row, v)] for row in E])]
    return [x - dot(coefficients, column) for x, column in zip(v, transpose(E))]


# ---- the least error ----

def least_error(method, q, E, D):
    """The weights of degree q + 1 with E D_k as before that satisfy the conditions of order q + 1 best at every theta:

        sum over |t| = q + 1 of (r_t(theta)/sigma(t))^2 -> min,   r_t(theta) = D(theta) Phi(t) - theta^(q+1)/gamma(t).

    That is least squares for each coefficient alone.  What they change is in the null space of E, in the span of the
    parts of Phi(t) in it.  The ends and slopes of D stay, as r_t and r_t' are 0 there: at 1 for q < p, its order, and
    the last stage of FSAL methods has the weights of the step.  For q = p the end is not more accurate, and D stays."""
    gram, trees = multiply(E, transpose(E)), of_order(q + 1)
    psi = [null_part(E, gram, [x / symmetry(t) for x in method.conditions.weights(t)]) for t in trees]
    span, _ = independent_rows(psi, [[] for _ in psi], rounding(method))
    if q == method.table.order or not span:
        return D
    D = D + [[ZERO] * method.s for _ in range(q + 1 - len(D))]
    errors = [[(dot(row, method.conditions.weights(t)) - (ONE / density(t) if k > q else ZERO)) / symmetry(t)
               for k, row in enumerate(D, 1)] for t in trees]
    levers = multiply(psi, transpose(span))                                 # of span^T z in r_t/sigma
    z = solve(multiply(transpose(levers), levers), multiply(transpose(levers), errors))
    return [[x - y for x, y in zip(*rows)] for rows in zip(D, multiply(transpose(z), span))]
