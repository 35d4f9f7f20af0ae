"""The report of `check`: what a file's method is, and how far its claims hold."""
from . import index2
from .linalg import apply, dot
from .document import PROPERTIES
from .real import ONE, snap, tiny
from .scale import factor
from .stability import error_constant
from .trees import density, of_order


def report(m):
    t = m.table
    stages = f"{m.s} stage{'s' if m.s > 1 else ''}" + (" and an explicit first one" if m.g else "")
    lines = [f"{t.path}: {t.keys['title']}",
             f"  family          {t.family}, {stages}",
             f"  tolerance       {tiny(m.tol)}" + (f" ({t.keys['digits']} digits given)" if "digits" in t.keys else "")]
    lines += weights("b", m.conditions, m.weights, t.order)
    if m.embedded_weights:
        conditions = m.embedded_conditions or m.conditions
        lines += weights("bhat", conditions, m.embedded_weights, m.embedded)
    if m.ex:
        lines.append(f"  estimate        {float(m.estx):.6g} times the defect of the dense output "
                     f"at {float(m.at):.6g} in it")
    if factor(m) > 1:
        lines.append(f"  estimate        times {factor(m)}: on simple problems it is smaller than the error")
    if t.bhat2:
        lines += weights("bhat2", m.conditions, t.bhat2, m.embedded2)
    lines.append(f"  dense output    order {m.dense}, degree {m.degree}, {origin(m)}, largest weight "
                 f"{float(max(abs(x) for row in m.D for x in row)):.3g}")
    if t.family != "ros":
        lines.append(f"  stage order     {stage_order(m)}")
    lines += stability(m)
    if m.block > 1:
        lines.append("  split of A^-1   " + ", ".join([f"{float(x):.12g}" for x in m.real]
                     + [f"{float(x):.12g} +- {float(y):.12g} i" for x, y in m.pairs]))
    if t.family == "ros":
        lines.append(f"  index 1         order {m.dae_order} for M y' = f with singular M; "
                     + any_matrix(m))
    if t.family in ("sdirk", "firk") and not m.g:
        lines.append(f"  index 2         {index_2(m)}")
    lines.append("  found           " + (", ".join(p for p in PROPERTIES if p in m.properties) or "no property"))
    lines.append("  claimed         " + (", ".join(t.claims) or "no property"))
    return "\n".join(lines)


def any_matrix(m):
    embedded = f", {m.embedded_w_order} of the embedded solution" if m.embedded_weights else ""
    return f"order {m.w_order} with any matrix for the Jacobian{embedded}"


def weights(key, conditions, b, p):
    held = max(abs(x) for n in range(1, p + 1) for x in residuals(conditions, b, n))
    failed = max(abs(x) for x in residuals(conditions, b, p + 1))
    return [f"  {key:15s} order {p}: largest residual {tiny(held)}; order {p + 1} fails by {tiny(failed)}; "
            f"principal error norm {float(conditions.principal_error(b, p)):.6g}"]


def residuals(conditions, b, n):
    return [dot(b, conditions.weights(tree)) - ONE / density(tree) for tree in of_order(n)]


def origin(m):
    if m.table.continuous or m.table.rodas:
        return "weights of the file"
    by_nodes = m.table.family in ("firk", "collocation")
    return "integrals of the Lagrange polynomials" if by_nodes else "from the order conditions"


def stage_order(m):
    """The largest q up to the order with sum_j a_ij c_j^(k-1) = c_i^k/k for all stages and k = 1 .. q."""
    A, c, q = m.coefficients.A, m.coefficients.c, 0
    while q < m.table.order:
        powers = [x ** q if q else ONE for x in c]
        if any(abs(x - y ** (q + 1) / (q + 1)) > m.tol for x, y in zip(apply(A, powers), c)):
            break
        q += 1
    return q


def index_2(m):
    if "dae" not in m.properties:
        return "none: |R(infinity)| is not below 1"
    return "order %d of y, %d of z" % index2.orders(m.A, m.b, m.table.order, m.tol)


def stability(m):
    constant = snap(error_constant(m.P, m.Q, m.table.order), m.tol)
    limit = "unbounded" if m.r_infinity is None else format(float(m.r_infinity), ".6g")
    kind = "L-stable" if "L-stable" in m.properties else "A-stable" if "A-stable" in m.properties else "not A-stable"
    return [f"  stability       {kind}, R(infinity) {limit}, error constant of R {float(constant):.6g}"]
