"""drafts.py - models with products of matrices and vectors, written with lists of nodes."""
from codegen.equations.model import Model, Quantity


class Draft:
    """A model that is written with lists of nodes"""

    def __init__(self, name, n):
        self.model = Model(name)
        self.g, self.parameters = self.model.graph, 0
        self.y = [self.g.v("y", i) for i in range(n)]
        self.model.states = [Quantity(f"y{i}", 0, i, value=self.g.c(0)) for i in range(n)]

    def p(self, count):
        """so many new parameters"""
        self.parameters += count
        return [self.g.v("p", i) for i in range(self.parameters - count, self.parameters)]

    def layer(self, rows, x):
        """tanh(W x + b), both parameters"""
        W, b = self.p(rows*len(x)), self.p(rows)
        return [self.g.f("tanh", self.g.add(z, c)) for z, c in zip(self.g.times(rows, len(x), W, x), b)]

    def table(self, count):
        return [self.g.c(((7*k) % 11 - 5)/8) for k in range(count)]

    def done(self, f):
        m = self.model
        m.equations = f
        m.parameters = [Quantity(f"k{i}", 0, i, value=self.g.c(0.1 + (i*i % 13)/20)) for i in range(self.parameters)]
        return m


def network(d):
    """5 -> 7 -> 5, and a matrix of numbers that the compiler knows, with t"""
    hidden = d.layer(7, [*d.y[:4], d.g.mul(d.y[4], d.g.v("t"))])
    return d.g.times(5, 7, d.table(35), d.layer(7, hidden))


def transposed(d):
    """W^T (W y), W in the order of columns, and every second column of it; all of one block of parameters"""
    W, g = d.p(60), d.g
    a = g.times(6, 5, W[:30], d.y)
    b = g.times(6, 5, W[30:], a, transposed=True)
    columns = [W[i + 6*j] for i in range(6) for j in range(5)]
    c = g.times(6, 5, columns, d.y)
    half = g.times(5, 6, [W[2*k] for k in range(30)], c)
    return [g.add(x, y) for x, y in zip(b, half)]


def of_states(d):
    """the matrix and the vector are states: y and its square"""
    g = d.g
    squares = [g.mul(y, y) for y in d.y]
    decay, = d.p(1)
    return g.times(5, 5, d.y, squares[:5]) + g.times(5, 4, squares[:20], d.y[20:24], transposed=False)[:5] \
        + g.times(5, 3, d.y[:15], [g.f("sin", y) for y in d.y[:5]], transposed=True) \
        + [g.mul(decay, y) for y in d.y[13:]]


def made(d):
    """a matrix of expressions in parameters, t and states; a matrix that is used twice; a vector of parameters"""
    g, W, k = d.g, d.p(20), d.p(4)
    M = [g.mul(w, g.f("exp", g.mul(k[i % 4], d.y[i % 4]))) for i, w in enumerate(W[:16])]
    a, b = g.times(4, 4, M, d.y), g.times(4, 4, W[4:], k)
    c = g.times(4, 4, W[:16], [g.mul(x, g.v("t")) for x in a])
    return [g.add(g.mul(x, y), z) for x, y, z in zip(a, b, c)]


def sums(d):
    """matrices whose entries are sums and differences of parameters, in which one parameter has several places, and a
    symmetric one; some parameters occur elsewhere, too"""
    g, P, Q, s, c = d.g, d.p(20), d.p(20), d.p(10), d.p(1)[0]
    a = g.times(4, 5, [g.add(p, q) for p, q in zip(P, Q)], d.y)
    b = g.times(4, 5, [g.sub(p, g.add(q, p)) if k % 2 else g.sub(p, q) for k, (p, q) in enumerate(zip(P, Q))], d.y)
    many = g.times(4, 5, [P[k % 3] if k % 4 else c for k in range(20)], [g.f("sin", y) for y in d.y])
    symmetric = g.times(4, 4, [s[max(i, j)*(max(i, j) + 1)//2 + min(i, j)] for i in range(4) for j in range(4)], a)
    out = [g.total(x) for x in zip(a, b, many, symmetric)]
    return [*out, g.mul(c, g.mul(s[3], g.mul(P[7], d.y[4])))]


def branches(d):
    """in branches: of one, of both, and outside of them"""
    g, W = d.g, d.p(32)
    condition = g.cmp("<", d.y[0], g.c(0.35))
    a, b = g.times(4, 4, W[:16], d.y), g.times(4, 4, W[16:], [g.f("exp", g.f("sin", y)) for y in d.y])
    c = g.times(4, 4, W[:16], b)
    out = [g.sel(condition, g.f("tanh", x), g.f("sqrt", g.add(g.c(9), y))) for x, y in zip(a, c)]
    return [g.add(out[0], b[1]), out[1], g.sel(g.no(condition), g.f("cos", a[3]), g.f("cosh", b[3])), out[2]]


def sparse(d):
    """mostly zero"""
    g, zero = d.g, d.g.c(0)
    M = [d.y[k % 5] if k % 6 == 0 else zero for k in range(25)]
    products = g.times(5, 5, M, d.y), g.times(5, 5, d.p(25), [zero, zero, zero, zero, d.y[0]])
    return [g.add(a, b) for a, b in zip(*products)]


ALL = [(network, 5), (transposed, 5), (of_states, 25), (made, 4), (sums, 5), (branches, 4), (sparse, 5)]
