"""Error estimators of fully implicit methods: the classical one, and one more SDIRK stage."""
from .check import quadrature
from .linalg import apply, dot, solve_vector, transpose
from .real import ONE, ZERO, snap
from .trees import Conditions


def add(method):
    """gamma0, est0, e, embedded; theta0, theta where A^-1 has a real eigenvalue."""
    t, c = method.table, method.c
    if method.real:
        gamma0 = method.gamma = ONE / method.real[0]
    else:
        re, im = method.pairs[0]
        gamma0 = re / (re ** 2 + im ** 2)                                # Re(1/lambda)
    bhat = embedded_weights(c, gamma0, t.tol)
    method.est0 = gamma0
    method.e = from_weights(method, [x - y for x, y in zip(bhat, method.b)])
    method.embedded_weights = [gamma0] + bhat
    method.embedded_conditions = Conditions(with_explicit_stage(method.A))
    method.embedded = method.embedded_conditions.order(method.embedded_weights, t.tol, t.order)
    if method.real:
        sdirk_stage(method, gamma0)


def embedded_weights(c, gamma0, tol):
    """bhat by the quadrature conditions 1 .. s.  With c_1 = 0 they would make it b, less gamma0 at the node 0: the
    estimate would be blind to f(t) and r(t).  There bhat_1 = 0, and the conditions are 1 .. s-1."""
    first = 1 if abs(c[0]) <= tol else 0
    return [ZERO] * first + fit(c[first:], [ONE / k - (gamma0 if k == 1 else ZERO) for k in range(1, len(c) + 1 - first)])


def blind(method, b0, bhat, gamma):
    """Is yhat y+ for every f(t)?  Weights of equal nodes are one weight."""
    net = {}
    for node, weight in [(ZERO, b0), (ONE, gamma)] + [(x, w - b) for x, w, b in zip(method.c, bhat, method.b)]:
        key = next((x for x in net if abs(x - node) <= method.table.tol), node)
        net[key] = net.get(key, ZERO) + weight
    return max(abs(x) for x in net.values()) <= method.table.tol


def fit(c, moments):
    """Weights with sum w_i c_i^(k-1) = moments[k-1]."""
    return solve_vector([[x ** k if k else ONE for x in c] for k in range(len(c))], moments)


def from_weights(method, w):
    """W^T w: weights of Z for the weights w of h f(Y)."""
    return [snap(x, method.table.tol) for x in apply(transpose(method.W), w)]


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
    if abs(slope) > method.table.tol and abs(defect) > method.table.tol:
        candidates.insert(0, defect / slope)
    best = None
    for b0 in candidates:
        bhat = [x - b0 * y for x, y in zip(u, v)]
        if blind(method, b0, bhat, gamma):
            continue
        A = with_explicit_stage(method.A)
        A = [row + [ZERO] for row in A] + [[b0] + bhat + [gamma]]
        order = Conditions(A).order(A[-1], method.table.tol, method.table.order)
        if best is None or order > best[0]:
            best = order, b0, bhat
    if best is None:
        return                                                            # nodes 0 and 1 are in c: no b0 helps
    _, method.theta0, bhat = best
    method.theta = from_weights(method, bhat)
