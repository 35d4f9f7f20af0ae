"""The nodes of what a model of single states has beside its equations: Jacobians, jumps, initial values, defaults."""


def only_products(model, f):
    """Is the Jacobian formed by the library, column by column?  Where there are products of matrices it is, if it is
    rather dense: a product a column costs less than its entries, one by one."""
    g, n = model.graph, len(model.states)
    if model.mass or model.implicit or not g.has_arrays(f):
        return False
    return 2*sum(map(len, g.used(f, "y"))) > n*n


def jacobians(model, f):
    """{name of the callback: entries} of df/dy, and of dF/dy' of a residual"""
    parts = {"jac": entries(model, f, "y")}
    if model.implicit:
        parts["jac_yp"] = entries(model, f, "yp")
    return parts


def entries(model, f, space):
    """{(row, column): node} of a Jacobian, row by row or column by column, whichever takes fewer operations"""
    g, n = model.graph, len(model.states)
    inputs = [g.v(space, k) for k in range(n)]
    uses = g.used(f, space)
    rows = {}
    for i, a in enumerate(f):
        these = sorted(uses[i])
        for j, d in zip(these, g.adjoint([a], [g.c(1)], [inputs[j] for j in these])):
            rows[i, j] = d
    columns = {}
    for j in range(n):
        these = [i for i in range(n) if j in uses[i]]
        for i, d in zip(these, g.tangent([f[i] for i in these], {inputs[j]: g.c(1)})):
            columns[i, j] = d
    nonzero = lambda e: {k: d for k, d in e.items() if not g.is_zero(d)}        # noqa: E731
    rows, columns = nonzero(rows), nonzero(columns)
    return rows if g.cost(rows.values()) <= g.cost(columns.values()) else columns


def by_columns(places):
    """The entries (row, column) of a pattern in their order in memory"""
    return sorted(places, key=lambda k: (k[1], k[0]))


def has_costs(model):
    """Do running costs grow between events?"""
    return any(not model.graph.is_zero(a) for a in model.cost_nodes)


def after(model, event):
    """States and memory after a jump"""
    g = model.graph
    return [event.jumps.get(("y", i), g.v("y", i)) for i in range(len(model.states))] + \
        [event.jumps.get(("m", i), g.v("m", i)) for i in range(len(model.memory))]


def added(model, event):
    """What an event adds to running costs"""
    return [event.costs.get(i, model.graph.c(0)) for i in range(len(model.costs))]


def start(model):
    """Initial values, running costs and memory as functions of t and p; what the file does not give is 0"""
    zero = model.graph.c(0)
    value = lambda q: zero if q.value is None else q.value                      # noqa: E731
    return [value(q) for q in model.states] + [zero] * len(model.costs) + [value(q) for q in model.memory]


def defaults(model):
    """The numbers of the parameters"""
    return [0.0 if q.value is None else model.graph.const(q.value) for q in model.parameters]
