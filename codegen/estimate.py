"""Error estimators of fully implicit methods: the classical one, and one more SDIRK stage
(mathematics, eq. 13.8 to 13.11)."""
from .check import quadrature
from .linalg import apply, dot, solve_vector, transpose
from .real import ONE, ZERO, snap
from .split import newton
from .trees import Conditions


def add(method):
    """gamma0, est0, e, embedded; at, estx, ex where c_1 = 0; theta0, theta where A^-1 has a real eigenvalue."""
    s = method.s
    if method.real:
        gamma0 = method.gamma = ONE / method.real[0]
    else:
        re, im = method.pairs[0]
        gamma0 = re / (re ** 2 + im ** 2)                                # Re(1/lambda)
    method.est0 = gamma0
    if abs(method.c[0]) <= method.tol:
        change, inner = [-gamma0] + [ZERO] * (s - 1), inner_defect(method, gamma0)
    else:
        change, inner = [x - y for x, y in zip(collocated(method.c, gamma0), method.b)], [ZERO] * s
    method.e = from_weights(method, change)
    if method.estx:
        method.ex = from_weights(method, inner)
    rows = [row + [ZERO] for row in with_explicit_stage(method.A)]
    method.embedded_conditions = Conditions(rows + [[ZERO] + continuous(method, method.at) + [ZERO]])
    method.embedded_weights = [gamma0] + [x + y + z for x, y, z in zip(method.b, change, inner)] + [method.estx]
    method.embedded = method.embedded_conditions.order(method.embedded_weights, method.tol, method.table.order)
    if method.real:
        sdirk_stage(method, gamma0)


def collocated(c, gamma0):
    """bhat by the quadrature conditions 1 .. s."""
    return fit(c, [ONE / k - (gamma0 if k == 1 else ZERO) for k in range(1, len(c) + 1)])


def inner_defect(method, gamma0):
    """With c_1 = 0 the quadrature conditions make bhat = b, less gamma0 at the node 0: what is left of the estimate,

           gamma0 h (f(t,y) - f(Y_1)),

    is blind to f(t) and r(t).  Another part sees them, the defect of the dense output u at one more point,

           estx h (f(t + at h, u(at)) - p(at)),    u' = p, the polynomial through the slopes of the stages.

    Sets at and estx, and returns the weights of p."""
    method.at, method.estx = end_or_damped_point(method, gamma0)
    return [-method.estx * x for x in fit(method.c, [method.at ** k if k else ONE for k in range(method.s)])]


def end_or_damped_point(method, gamma0):
    """The end of the step, where it is no node; gamma0 makes the filtered defect the error of y+ in constraints.

    Else the point inside where u vanishes in the stiff limit: with stages of order s-1 the defect of y' = lambda y is
    c(lambda) times the polynomial u(infinity), and is zero there for every lambda.  Of several the one at which f(t)
    is seen best; where there is none, that of all points.  An interpolation sees less than the extrapolation to an
    end: weight 1."""
    c, tol = method.c, method.tol
    if abs(nodal(c, ONE)) > tol:
        return ONE, gamma0
    u = [-sum(column, ZERO) for column in reversed(transpose(method.D))] + [ONE]
    grid = [ONE * k / 1024 for k in range(1, 1024)]
    value = [sum((a * x ** k for k, a in enumerate(reversed(u))), ZERO) for x in grid]
    roots = [newton(u, x, ZERO)[0] for x, v, w in zip(grid, value, value[1:]) if v * w <= 0]
    return max([x for x in roots if abs(nodal(c, x)) > tol] or grid, key=lambda x: abs(nodal(c, x))), ONE


def nodal(c, x):
    """prod (x - c_i): the error of the interpolation of t^s"""
    value = ONE
    for node in c:
        value *= x - node
    return value


def continuous(method, x):
    """b_j(x) of the dense output"""
    return [sum((row[j] * x ** k for k, row in enumerate(method.B, 1)), ZERO) for j in range(method.s)]


def blind(method, b0, bhat, gamma):
    """Is yhat y+ for every f(t)?  Weights of equal nodes are one weight."""
    net = {}
    for node, weight in [(ZERO, b0), (ONE, gamma)] + [(x, w - b) for x, w, b in zip(method.c, bhat, method.b)]:
        key = next((x for x in net if abs(x - node) <= method.tol), node)
        net[key] = net.get(key, ZERO) + weight
    return max(abs(x) for x in net.values()) <= method.tol


def fit(c, moments):
    """Weights with sum w_i c_i^(k-1) = moments[k-1]."""
    return solve_vector([[x ** k if k else ONE for x in c] for k in range(len(c))], moments)


def from_weights(method, w):
    """W^T w: weights of Z for the weights w of h f(Y)."""
    return [snap(x, method.tol) for x in apply(transpose(method.W), w)]


def with_explicit_stage(A):
    return [[ZERO] * (len(A) + 1)] + [[ZERO] + row for row in A]


def sdirk_stage(method, gamma):
    """yhat = y + h (b0 f(t,y) + sum bhat_i f_i + gamma f(t+h, yhat)).  b0 is free: of the value that the next
    quadrature condition asks for, 0 and gamma, the first that gives the highest order and is not blind."""
    c, s = method.c, method.s
    u = fit(c, [ONE / k - gamma for k in range(1, s + 1)])
    v = fit(c, [ONE] + [ZERO] * (s - 1))                                  # bhat = u - b0 v
    slope, defect = dot(v, [x ** s for x in c]), quadrature(u, c, s + 1) + gamma
    candidates = [ZERO, gamma]
    if abs(slope) > method.tol and abs(defect) > method.tol:
        candidates.insert(0, defect / slope)
    best = None
    for b0 in candidates:
        bhat = [x - b0 * y for x, y in zip(u, v)]
        if blind(method, b0, bhat, gamma):
            continue
        A = with_explicit_stage(method.A)
        A = [row + [ZERO] for row in A] + [[b0] + bhat + [gamma]]
        order = Conditions(A).order(A[-1], method.tol, method.table.order)
        if best is None or order > best[0]:
            best = order, b0, bhat
    if best is None:
        return                                                            # nodes 0 and 1 are in c: no b0 helps
    _, method.theta0, bhat = best
    method.theta = from_weights(method, bhat)
