"""The right-hand side of a large mechanism as loops over tables of reactions.

Straight-line code of thousands of reactions takes minutes to compile.  Here a reaction is a row: its rate is

    F = K y_a y_b ...            out += net F

with the rate constants K(p, t, m), which are computed first.  Sums of states with constant factors, as the sum RO2 of
all peroxy radicals that many rates contain, stand behind the states as further y_a: totals.  Reactions with equally
many reactants are one loop, whose body and all derivatives are printed from a graph of K and y_a, y_b, ... alone.  With
L = sum over reactions of (w . net) F, derivatives with respect to p go through those of K (mathematics, eq. 15.2):

    adjoint            A(L_K)                                            A: K'(p)^T
    along d            A(dL_K) + A_d(L_K)                                A_d: its derivative along d
    along d and e      A(ddL_K) + A_d(eL_K) + A_e(dL_K) + A_de(L_K)"""
from .body import Body, Target
from .calls import MOST_ORDERS
from .functions import DIRECTIONS, SIGNATURES, Map, function, words
from .graph import Graph
from .names import listed

MANY = 300                                   # reactions: above, tables
CHUNK = 60                                   # rate constants that one function computes
MOST_REACTANTS = 4                           # others are printed as equations
TOTALS = """
static void with_totals(const double *restrict from, double constant, double *restrict y)
{{
    for (int i = 0; i < {n}; i++) y[i] = from[i];
    for (int j = 0; j < {count}; j++) {{
        double sum = constant*total_constant[j];
        for (int k = total_start[j]; k < total_start[j + 1]; k++) sum += total_number[k]*from[total_state[k]];
        y[{n} + j] = sum;
    }}
}}

static void without_totals(const double *restrict bars, double *restrict gy)
{{
    for (int i = 0; i < {n}; i++) gy[i] += bars[i];
    for (int j = 0; j < {count}; j++)
        for (int k = total_start[j]; k < total_start[j + 1]; k++) gy[total_state[k]] += total_number[k]*bars[{n} + j];
}}
"""
BACK = ("adjoint", "adjoint_tangent", "adjoint_tangent2")


def separated(model):
    """(reactions for the tables, equations of everything else, totals: [(constant, {state: number})])"""
    g, rows, others, totals = model.graph, [], [], {}
    for r in model.reactions:
        factors = [i for i, exponent in r.left for _ in range(int(exponent))]
        whole = all(exponent == int(exponent) for _, exponent in r.left)
        k, more = factored(g, r.k)
        if whole and k is not None and len(factors) + len(more) <= MOST_REACTANTS and not g.variables([k], "mode"):
            factors += [g.nodes[a][2] if g.nodes[a][0] == "v" else
                        len(model.states) + totals.setdefault(a, len(totals)) for a in more]
            rows.append((factors, r.net, k))
        else:
            others.append(r)
    rows.sort(key=lambda row: len(row[0]))
    return rows, model.kinetics(others), [linear(g, a) for a in totals]


def factored(g, k):
    """(the factor of a rate constant that does not depend on states, its other factors: states and sums of them);
    (None, []): it has others"""
    rest, found, stack = g.c(1), [], [k]
    while stack:
        a = stack.pop()
        key = g.nodes[a]
        if not g.variables([a], "y"):
            rest = g.mul(rest, a)
        elif key[0] == "*":
            stack += key[1:]
        elif key[0] == "neg":
            rest = g.neg(rest)
            stack.append(key[1])
        elif g.whole_power(a) > 0:
            stack += [key[1]] * g.whole_power(a)
        elif key[0] == "v" or linear(g, a):
            found.append(a)
        else:
            return None, []
    return rest, sorted(found)


def linear(g, a):
    """(constant, {state: number}) of a sum of states with constant factors; else None"""
    found = {}
    for b in g.order([a]):
        key = g.nodes[b]
        parts = [found[c] for c in g.children(b)]
        if key[0] == "c":
            found[b] = key[1], {}
        elif key[0] == "v" and key[1] == "y":
            found[b] = 0.0, {key[2]: 1.0}
        elif key[0] == "neg":
            found[b] = scaled(-1.0, *parts[0])
        elif key[0] in "+-":
            constant, numbers = scaled(-1.0 if key[0] == "-" else 1.0, *parts[1])
            sums = {i: parts[0][1].get(i, 0) + numbers.get(i, 0) for i in [*parts[0][1], *numbers]}
            found[b] = parts[0][0] + constant, sums
        elif key[0] == "*" and not parts[0][1]:
            found[b] = scaled(parts[0][0], *parts[1])
        elif key[0] == "/" and g.const(key[2]):
            found[b] = scaled(1 / g.const(key[2]), *parts[0])
        else:
            return None
    return found[a]


def scaled(factor, constant, numbers):
    return factor * constant, {i: factor * x for i, x in numbers.items()}


def in_tables(model):
    """Are the reactions of a model written as tables?  Their products need all derivatives of functions in C"""
    return len(model.reactions) > MANY and not model.implicit and \
        all(f.orders == MOST_ORDERS for f in model.graph.functions.values())


class Tables:
    def __init__(self, model, writer):
        self.model, self.g, self.writer = model, model.graph, writer
        self.n = len(model.states)
        self.rows, self.rest, self.totals = separated(model)
        self.count, self.length = len(self.rows), self.n + len(self.totals)
        self.writer.longest = max(self.writer.longest, self.n)             # directions that are NULL
        self.groups = {}                     # number of reactants: (first reaction, last + 1)
        for k, (factors, _, _) in enumerate(self.rows):
            first, _ = self.groups.get(len(factors), (k, k))
            self.groups[len(factors)] = (first, k + 1)
        self.text = []

    def map(self):
        """The map of the right-hand side, its text, and the pattern that jac fills"""
        m = Map("rhs", self.rest, "right-hand side")
        self.text += [self._tables()]
        self._rates()
        if any(not self.g.is_zero(a) for a in self.rest):
            self.others = self.writer.map("rest", self.rest, "", several=False)
            self.text += self.others.text
        else:
            self.others = None
        for product in DIRECTIONS:
            self.text.append(self._back(product) if product in BACK else self._forward(product))
            m.callbacks[product] = f"rhs_{product}"
        m.text = self.text
        return m

    def maps(self):
        """Those that are printed as equations"""
        return [part for _, part in self.chunks] + ([self.others] if self.others else [])

    # ---- tables ----

    def _tables(self):
        parts = []
        for m, (first, last) in self.groups.items():
            if m:
                flat = [str(i) for factors, _, _ in self.rows[first:last] for i in factors]
                parts += listed(f"static const int reactants_{m}[] = {{", flat, "};", 4)
        start, states, numbers = [0], [], []
        for _, net, _ in self.rows:
            states += [str(i) for i, _ in net]
            numbers += [repr(float(x)) for _, x in net]
            start.append(len(states))
        parts += listed("static const int net_start[] = {", [str(x) for x in start], "};", 4)
        parts += listed("static const int net_state[] = {", states or ["0"], "};", 4)
        parts += listed("static const double net_number[] = {", numbers or ["0.0"], "};", 4)
        parts.append(f"static const double zero_rates[{self.count}];    /* for directions that do not move K */")
        return "\n".join(parts) + "\n" + self._totals()

    def _totals(self):
        """Sums of states: their tables, and the functions that put them behind states and take them back"""
        if not self.totals:
            return ""
        start, flat = [0], []
        for _, numbers in self.totals:
            flat += sorted(numbers.items())
            start.append(len(flat))
        parts = listed("static const int total_start[] = {", [str(k) for k in start], "};", 4)
        parts += listed("static const int total_state[] = {", [str(i) for i, _ in flat], "};", 4)
        parts += listed("static const double total_number[] = {", [repr(x) for _, x in flat], "};", 4)
        parts += listed("static const double total_constant[] = {", [repr(c) for c, _ in self.totals], "};", 4)
        return "\n".join(parts) + "\n" + TOTALS.format(n=self.n, count=len(self.totals))

    # ---- rate constants ----

    def _rates(self):
        """Those that are parameters by a table, the others in functions of some dozens each"""
        g = self.g
        plain = [(k, g.nodes[row[2]][2]) for k, row in enumerate(self.rows) if g.nodes[row[2]][:2] == ("v", "p")]
        others = [k for k in range(self.count) if k not in {k for k, _ in plain}]
        self.chunks = []
        for first in range(0, len(others), CHUNK):
            these = others[first:first + CHUNK]
            part = self.writer.map(f"rates_{first // CHUNK}", [self.rows[k][2] for k in these], "",
                                   several=False)
            self.text += part.text
            self.chunks.append((these, part))
        self.plain = plain
        if plain:
            self.text.append("\n".join(listed("static const int plain_rate[] = {", [str(k) for k, _ in plain], "};", 4)
                                       + listed("static const int plain_parameter[] = {", [str(p) for _, p in plain],
                                                "};", 4)) + "\n")
        if others:
            table = listed("static const int other_rate[] = {", [str(k) for k in others], "};", 4)
            self.text.append("\n".join(table) + "\n")
        for product in DIRECTIONS:
            self.text.append(self._rates_back(product) if product in BACK else self._rates_forward(product))

    def _rates_forward(self, product):
        """K, or its derivatives, by reaction"""
        source = {"value": "x->p", "tangent": "dx->p", "tangent2": ""}[product]
        lines = [f"    for (int r = 0; r < {self.count}; r++) out[r] = 0;"]
        if self.plain and source:
            guard = "" if product == "value" else "if (dx->p) "
            lines.append(f"    {guard}for (int k = 0; k < {len(self.plain)}; k++) "
                         f"out[plain_rate[k]] = {source}[plain_parameter[k]];")
        lines += self._each_chunk(product, "", "out[other_rate[{at} + k]] = some[k];")
        return self._function(f"rates_{product}", product, lines)

    def _rates_back(self, product):
        """g += of rate constants, where w has a weight for each reaction"""
        lines = []
        if self.plain and product == "adjoint":
            lines.append(f"    if (g->p) for (int k = 0; k < {len(self.plain)}; k++) "
                         "g->p[plain_parameter[k]] += w[plain_rate[k]];")
        lines += self._each_chunk(product, "some[k] = w[other_rate[{at} + k]];", "")
        return self._function(f"rates_{product}", product, lines)

    def _each_chunk(self, product, before, after):
        lines = []
        if not self.chunks:
            return lines
        lines += [f"    double some[{CHUNK}];", "    int code;"]
        at = 0
        for these, part in self.chunks:
            loop = f"    for (int k = 0; k < {len(these)}; k++) "
            arguments = ", ".join({"out": "some", "w": "some"}.get(a, a) for a in words(SIGNATURES[product]))
            if before:
                lines.append(loop + before.format(at=at))
            lines.append(f"    if ((code = {part.callbacks[product]}({arguments}))) return code;")
            if after:
                lines.append(loop + after.format(at=at))
            at += len(these)
        return lines

    def _function(self, name, product, lines):
        return function(name, SIGNATURES[product], "\n".join(lines) + "\n")

    # ---- reactions: bodies of the loops, from a graph ----

    def _formula(self, m):
        """F of m reactants in a graph of its own, and its variables"""
        g = Graph()
        inputs = [g.v("K")] + [g.v("y", j) for j in range(m)]
        F = inputs[0]
        for y in inputs[1:]:
            F = g.mul(F, y)
        return g, F, inputs

    @staticmethod
    def _along(g, roots, inputs, q):
        """Derivatives along d or e; dK moves along e, too, as K is a function"""
        seed = {a: g.v(q + g.nodes[a][1], g.nodes[a][2]) for a in inputs}
        if q == "e":
            seed[g.v("dK")] = g.v("deK")
        return g.tangent(roots, seed)

    @staticmethod
    def _name(key):
        _, space, index, _ = key
        return "bar" if space == "w" else f"{space}[r]" if space.endswith("K") else f"{space}[i[{index}]]"

    def _loops(self, targets_of, with_weight):
        lines = []
        for m, (first, last) in self.groups.items():
            g, targets = targets_of(m)
            body = Body(g, targets, self._name, indent=" " * 8).text()
            lines.append(f"    for (int r = {first}; r < {last}; r++) {{")
            if "i[" in body:
                lines.append(f"        const int *i = reactants_{m} + {m}*(r - {first});")
            if with_weight:
                lines += ["        double bar = 0;",
                          "        for (int k = net_start[r]; k < net_start[r + 1]; k++) "
                          "bar += net_number[k]*w[net_state[k]];"]
            lines.append(body)
            if not with_weight:
                lines.append("        for (int k = net_start[r]; k < net_start[r + 1]; k++) "
                             "out[net_state[k]] += net_number[k]*rate;")
            lines.append("    }")
        return lines

    def _forward(self, product):
        by = DIRECTIONS[product]

        def targets_of(m):
            g, F, inputs = self._formula(m)
            roots = [F]
            for q in by:
                roots = self._along(g, roots, inputs, q)
            return g, [Target("const double rate", "=", roots[0])]
        lines = [f"    for (int j = 0; j < {self.n}; j++) out[j] = 0;"] if self.others is None else \
            ["    int status = " + f"{self.others.callbacks[product]}({', '.join(words(SIGNATURES[product]))});",
             "    if (status) return status;"]
        return self._function(f"rhs_{product}", product, lines + self._inputs(by, False) +
                              self._loops(targets_of, False))

    def _back(self, product):
        by = DIRECTIONS[product]

        def targets_of(m):
            g, F, inputs = self._formula(m)
            gradient = g.adjoint([F], [g.v("w")], inputs)
            full = gradient
            for q in by:
                full = self._along(g, full, inputs, q)
            targets = [Target(f"gy[i[{j}]]", "+=", a, "gy") for j, a in enumerate(full[1:]) if not g.is_zero(a)]
            for name, q in self._weights(by):
                a = gradient[:1]
                for one in q:
                    a = self._along(g, a, inputs, one)
                targets.append(Target(f"{name}[r]", "=", a[0], "further"))
            return g, targets
        lines = [] if self.others is None else [
            f"    int status = {self.others.callbacks[product]}({', '.join(words(SIGNATURES[product]))});",
            "    if (status) return status;"]
        lines += self._inputs(by, True)
        lines += self._loops(targets_of, True)
        if self.totals:
            lines.append("    if (g->y) without_totals(bars, g->y);")
        lines += self._through_rates(by)
        return self._function(f"rhs_{product}", product, lines)

    @staticmethod
    def _weights(by):
        """The derivatives of L with respect to K that are passed on: along nothing, d, e, both"""
        return {"": [("bK", "")], "d": [("bK", ""), ("dbK", "d")],
                "de": [("bK", ""), ("dbK", "d"), ("ebK", "e"), ("debK", "de")]}[by]

    def _inputs(self, by, back):
        """K and its derivatives along directions that move it"""
        count, lines = self.count, [self._states("y", "x->y", 1)]
        lines.append(f"    double K[{count}];")
        lines.append("    int code = rates_value(x, K, ctx);")
        if back:
            gy = f"    double bars[{self.length}] = {{0}}, *restrict gy = g->y ? bars : NULL;"
            lines.append(gy if self.totals else "    double *restrict gy = g->y;")
            lines.append("    const int further = g->p || g->t || g->m;")
            lines += [f"    double {name}[{count}];" for name, _ in self._weights(by)]
        for q in by:
            moved = f"{q}x->p || {q}x->t != 0 || {q}x->m"
            lines += [self._states(f"{q}y", f"{q}x->y ? {q}x->y : zeros", 0), f"    const double *{q}K = zero_rates;"]
            lines.append(f"    double {q}K_[{count}];")
            lines.append(f"    if (!code && ({moved})) code = rates_tangent(x, {q}x, {q}K_, ctx), {q}K = {q}K_;")
        if by == "de":
            lines.append(f"    double deK[{count}];")
            lines.append("    if (!code) code = rates_tangent2(x, dx, ex, deK, ctx);")
        lines.append("    if (code) return code;")
        return lines

    def _states(self, name, source, constant):
        """The array of states, with totals behind them"""
        if not self.totals:
            return f"    const double *restrict {name} = {source};"
        return f"    double {name}[{self.length}];\n    with_totals({source}, {constant}, {name});"

    @staticmethod
    def _through_rates(by):
        calls = {"": ["rates_adjoint(x, bK, g, ctx)"],
                 "d": ["rates_adjoint(x, dbK, g, ctx)", "rates_adjoint_tangent(x, dx, bK, g, ctx)"],
                 "de": ["rates_adjoint(x, debK, g, ctx)", "rates_adjoint_tangent(x, dx, ebK, g, ctx)",
                        "rates_adjoint_tangent(x, ex, dbK, g, ctx)",
                        "rates_adjoint_tangent2(x, dx, ex, bK, g, ctx)"]}[by]
        lines = ["    costate_gradient others = *g;", "    others.y = NULL;", "    if (!further) return 0;"]
        return lines + [f"    if ((code = {call.replace(', g, ', ', &others, ')})) return code;" for call in calls]

    # ---- Jacobian ----

    def pattern(self):
        return {(i, j) for factors, net, _ in self.rows for i, _ in net for a in factors for j in self._moves(a)}

    def _moves(self, a):
        """The states that a factor of a rate depends on"""
        return [a] if a < self.n else sorted(self.totals[a - self.n][1])

    def jacobian(self, place, count):
        """The function that sets J to that of the reactions; place: of an entry (row, column) among `count`"""
        places = [str(place[i, j]) for factors, net, _ in self.rows for a in factors for j in self._moves(a)
                  for i, _ in net]
        lines = listed("static const int place[] = {", places or ["0"], "};", 4)
        text = "\n".join(lines) + "\n\n" + "static int reactions_jac(const costate_point *x, double *restrict J, " \
            f"void *ctx)\n{{\n    for (int k = 0; k < {count}; k++) J[k] = 0;\n" \
            f"{self._states('y', 'x->y', 1)}\n    const int *at = place;\n" \
            f"    double K[{self.count}];\n    int code = rates_value(x, K, ctx);\n    if (code) return code;\n"
        for m, (first, last) in self.groups.items():
            if not m:
                continue
            g, F, inputs = self._formula(m)
            slopes = g.adjoint([F], [g.c(1)], inputs[1:])
            body = Body(g, [Target(f"slope[{j}]", "=", a) for j, a in enumerate(slopes)], self._name,
                        indent=" " * 8).text()
            reactants = f"        const int *i = reactants_{m} + {m}*(r - {first});\n"
            text += f"    for (int r = {first}; r < {last}; r++) {{\n" + (reactants if "i[" in body else "") + \
                f"        double slope[{m}];\n" + body + "\n" + self._entries(m) + "    }\n"
        return text + "    return 0;\n}\n"

    def _entries(self, m):
        """What the slopes of one reaction add to the Jacobian"""
        loop = "for (int k = net_start[r]; k < net_start[r + 1]; k++) "
        if not self.totals or all(i < self.n for factors, _, _ in self.rows if len(factors) == m for i in factors):
            return f"        for (int j = 0; j < {m}; j++)\n            {loop}J[*at++] += net_number[k]*slope[j];\n"
        row = f"reactants_{m}[{m}*(r - {self.groups[m][0]}) + j]"
        return f"        for (int j = 0; j < {m}; j++) {{\n            const int total = {row} - {self.n};\n" \
            f"            if (total < 0) {loop}\n                J[*at++] += net_number[k]*slope[j];\n" \
            "            else for (int l = total_start[total]; l < total_start[total + 1]; l++)\n" \
            f"                {loop}\n                    J[*at++] += net_number[k]*total_number[l]*slope[j];\n" \
            "        }\n"
