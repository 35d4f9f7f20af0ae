"""Maps that treat 2, 4 or 8 members side by side (costate/lanes.h), printed from the nodes of those for one member.

Every lane has the bits of the scalar callbacks: the same operations in the same versions.  A loop over lanes surrounds
the statements of one member.  It is vectorised if it has no branches, so that there is a copy for each combination of
gradients that may be requested, with constants in place of their guards."""
import re

from ..real import Refused
from .body import Body, Target
from .calls import MOST_ORDERS
from .functions import DIRECTIONS
from .names import listed, prefix
from .pieces import cut, is_long, section, slots, soon, taken, units_of

SIZES = (2, 4, 8)
MOST = 8
ARRAYS = {"t": "ts", "y": "y", "p": "p"}
IN_VECTORS = {"if", "fabs", "sqrt"}              # other functions are calls, one lane after the other
PRAGMA = "#pragma omp simd\n"
PRAGMA_OF_ROOTS = "#ifdef __NO_MATH_ERRNO__        /* else sqrt is a call */\n" + PRAGMA + "#endif\n"

POINT, GRADIENT = "const costate_lane_point *", "const costate_lane_gradient *g"
DIRECTION = {"": [], "d": [POINT + "dx"], "de": [POINT + "dx", POINT + "ex"]}

MACRO = """#if defined __GNUC__
#define LANE_CODE static inline __attribute__((always_inline))
#else
#define LANE_CODE static inline
#endif

"""


def check(model, origin, tables):
    """Refuses a model that lanes do not serve; tables: its reactions are in tables"""
    g = model.graph
    lacking = next((f for f in g.functions.values() if f.orders < MOST_ORDERS), None)
    depends = bool(g.variables([*model.kinetics(), *model.cost_nodes], "mode")) if not model.on_grid else False
    for found, what in (
            (model.on_grid, "its states are fields on a grid"),
            (model.implicit, "it is a residual F(t, y, y', p) = 0, not a right-hand side"),
            (model.mass, "it has a mass matrix"),
            (model.memory, f"it has the memory variable {model.memory[0].name}" if model.memory else ""),
            (model.relations, "its conditions are relations (kinks as branches leaves them as they are)"),
            (depends, "its right-hand side or a running cost depends on the mode"),
            (lacking, f"{lacking.name} has {lacking.derivatives()}, not the third ones" if lacking else ""),
            (tables, f"its {len(model.reactions)} reactions are written as tables")):
        if found:
            raise Refused(f"{origin}: --lanes does not serve this model: {what}")


class Lanes:
    """maps: [(member of costate_lane_maps, Map)]; jac: targets of the Jacobian; elimination: that of NAME_backend, or
    None"""

    def __init__(self, model, names, maps, jac, elimination):
        self.model, self.g, self.names, self.maps, self.jac = model, model.graph, names, maps, jac
        self.elimination = elimination
        self.parts, self.instances, self.members, self.longest, self.nothing = [], [], {}, 0, {}

    def functions(self):
        """The maps; before NAME_lanes, and before the linear solver"""
        for member, m in self.maps:
            self.members[member] = {}
            for product in DIRECTIONS:
                self._product(member, m, product)
        self._inline("jac_of", [POINT + "x", "double *restrict J"], [_in_lane(t) for t in self.jac])
        self._instance("jac", [POINT + "x", "double *J"])
        zeros = f"_Alignas(64) static const double lane_zeros[{MOST*self.longest}];     /* for what is NULL */\n\n"
        return "/* ---- maps of several members side by side ---- */\n\n" + MACRO + zeros * bool(self.longest) \
            + "\n".join([*self.nothing.values(), *self.parts]) + "\n" + self._instances()

    def list(self):
        """NAME_lanes"""
        items = [".lanes = L"]
        for member, callbacks in self.members.items():
            inside = [f".{product} = {name}" for product, name in callbacks.items()]
            inside[0], inside[-1] = f".{member} = {{{inside[0]}", inside[-1] + "}"
            items += inside
        items.append(".jac = jac_##L")
        if self.elimination:
            items += [".backend = &backend", f".entries = {len(self.elimination.order)}", ".factor = factor_##L",
                      ".solve = solve_##L"]
        lines = listed("#define MAPS(L) {", items, "}", 4)
        maps = wanted("        MAPS({0}),") + "        {.lanes = 0}\n"
        return "\n" + _macro(lines) + f"\nconst costate_lane_maps *{prefix(self.model)}_lanes(void)\n{{\n" \
            f"    static const costate_lane_maps maps[] = {{\n{maps}    }};\n    return maps;\n}}\n"

    # ---- products of a map ----

    def _product(self, member, m, product):
        name, callbacks = f"{m.name}_{product}", self.members[member]
        backward = product.startswith("adjoint")
        rest = ["const double *restrict w", GRADIENT] if backward else ["double *restrict out"]
        arguments = [POINT + "x", *DIRECTION[DIRECTIONS[product]], *rest]
        if name in m.targets:
            self._versions(m, product, name, arguments, backward)
        elif backward:
            callbacks[product] = f"no_lane_{product}"
            self.nothing[product] = _signature(f"static int no_lane_{product}", _plain(arguments) + ["void *ctx"]) + \
                "{\n    return " + "".join(f"(void){a}, " for a in _words(arguments) + ["ctx"]) + "0;\n}\n"
            return
        else:
            self.parts.append(_function(name + "_of", arguments,
                                        f"    for (int i = 0; i < {len(m.nodes)}*L; i++) out[i] = 0;\n"))
        self._instance(name, _plain(arguments))
        callbacks[product] = name + "_##L"

    def _versions(self, m, product, name, arguments, backward):
        """The version for directions in states alone where there is one for one member, and that for all"""
        begin = ""
        if product in m.alone:
            none = " && ".join(f"!{q}x->{s}" for q, s in m.alone[product])
            begin = f"    if ({none}) return;\n"
            if name + "_y" in m.targets:
                self._one(name + "_y", arguments, m.targets[name + "_y"], "", backward)
                begin = f"    if ({none}) {{\n        {_call(name + '_y', arguments)};\n        return;\n    }}\n"
        self._one(name, arguments, m.targets[name], begin, backward)

    def _one(self, name, arguments, targets, begin, backward):
        if not backward or is_long(Body(self.g, targets, self._variable)):
            self._inline(name + "_of", arguments, [_in_lane(t) for t in targets], begin)
            return
        text = begin
        states = [_in_lane(t) for t in targets if t.guard in ("gy", "gp")]
        time = [_in_lane(t) for t in targets if t.guard == "g->t"]
        guards = sorted({t.guard for t in states}, reverse=True)
        if len(guards) == 2:
            flagged = [Target(t.lhs, t.op, t.node, f"to_{t.guard[1]}") for t in states]
            self._inline(name + "_into", ["const int to_y", "const int to_p", *arguments], flagged)
            for test, flags in (("g->y && g->p", "1, 1"), ("g->y", "1, 0"), ("g->p", "0, 1")):
                text += f"    {'else ' * (flags != '1, 1')}if ({test}) " \
                    f"{name}_into(L, {flags}, {', '.join(_words(arguments))});\n"
        elif guards:
            self._inline(name + "_into", arguments, [Target(t.lhs, t.op, t.node) for t in states])
            text += f"    if (g->{guards[0][-1]}) {name}_into(L, {', '.join(_words(arguments))});\n"
        if time:
            self._inline(name + "_t", arguments, [Target(t.lhs, t.op, t.node) for t in time])
            text += f"    if (g->t) {name}_t(L, {', '.join(_words(arguments))});\n"
        self.parts.append(_function(name + "_of", arguments, text))

    # ---- one loop ----

    def _inline(self, name, arguments, targets, begin=""):
        """Functions that are calls, and real branches, are evaluated first, one lane after the other; the rest is one
        loop for vectors."""
        g = self.g
        targets = [Target(t.lhs, t.op, a, t.guard)
                   for t, a in zip(targets, g.with_jets(g.printable([t.node for t in targets])))]
        calls = self._calls(targets)
        for a in dict.fromkeys(re.match(r"g[typ](?=\[)", t.lhs).group() for t in targets if t.op == "+="):
            begin += f"    double *restrict {a} = g->{a[1:]};\n"
        arrays, loops = {}, ""
        if calls:
            begin += f"    _Alignas(64) double called[{len(calls)}*COSTATE_LANES_MOST];\n"
            loops = self._loop(calls, arrays)
            given = {t.node: g.v("given", k) for k, t in enumerate(calls)}
            targets = [Target(t.lhs, t.op, a, t.guard)
                       for t, a in zip(targets, g.rebuilt([t.node for t in targets], {}, given))]
        body = Body(g, targets, self._variable, indent=" " * 8)
        loops += self._loops(body, arrays) if is_long(body) else self._loop(targets, arrays)
        self.parts.append(_function(name, arguments, begin + "".join(arrays) + loops))

    def _calls(self, targets):
        """What targets need of calls, and of conditions that decide what is evaluated, as targets"""
        g, body = self.g, Body(self.g, targets, self._variable)
        decide = {e[0] for where in body.context.values() for e in where if not isinstance(e, str)}
        found = {a for a in body.order if g.nodes[a][0] in ("pow", "g") or g.is_of_jet(a)
                 or g.nodes[a][0] == "f" and g.nodes[a][1] not in IN_VECTORS
                 or g.nodes[a][0] == "sel" and g.nodes[a][1] in decide}
        return [Target(f"called[{k}*L + l]", "=", a, *body.context[a])
                for k, a in enumerate(g.below([t.node for t in targets], found))]

    def _loop(self, targets, arrays):
        """One loop over lanes; arrays: declarations before it, as keys"""
        body = Body(self.g, targets, self._variable, indent=" " * 8)
        keys = self.g.variables([t.node for t in body.targets])
        return self._over_lanes(self._loads(keys, arrays), body.text() + "\n")

    @staticmethod
    def _over_lanes(loads, body, indent="    "):
        branches = re.sub(r"if \(to_[yp]\)", "", body)
        before = ""
        if set(re.findall(r"\b([A-Za-z_]\w*) ?\(", branches)) <= IN_VECTORS and "if (" not in branches:
            before = PRAGMA_OF_ROOTS if "sqrt(" in body else PRAGMA
        return before + f"{indent}for (int l = 0; l < L; l++) {{\n{loads}{body}{indent}}}\n"

    def _variable(self, key):
        return f"w_{key[2]}" if key[1] == "w" else self.names.variable(key)

    def _loops(self, body, arrays):
        """A long function as several loops; temporaries that others use are passed in an array s.  Loops for a gradient
        are left out as a whole where it is not requested."""
        pieces = [[unit for unit in piece if unit.guard == guard]
                  for piece in cut(soon(units_of(body, " " * 8, " " * 12)))
                  for guard in sorted({unit.guard for unit in piece}, key=lambda guard: guard or "")]
        place, count = slots(pieces)
        kept, text = {a: f"s[{k}*L + l]" for a, k in place.items()}, ""
        for piece in pieces:
            keys, _ = self.g.loaded([a for unit in piece for a in unit.roots], body.temporary)
            uses = {a for unit in piece for a in unit.uses} - {a for unit in piece for a in unit.makes}
            guard = piece[0].guard
            indent = " " * (12 if guard else 8)
            loop = self._over_lanes(self._loads(keys, arrays, indent) + taken(uses, indent, body.texts, kept),
                                    section(piece, indent, body.texts, kept), indent[4:])
            text += f"    if ({guard}) {{\n{loop}    }}\n" if guard else loop
        return f"    _Alignas(64) double s[{count}*COSTATE_LANES_MOST];\n" * bool(count) + text

    def _loads(self, keys, arrays, indent=" " * 8):
        """Declarations of the variables of lane l; those of their arrays are added to arrays"""
        lines = []
        for q, point in (("", "x"), ("d", "dx"), ("e", "ex")):
            for space in ("y", "p"):
                these = [k for k in keys if k[1] == q + space]
                if these:
                    self._array(arrays, q, point, space)
                self._load(lines, these, q + space, indent)
            if any(k[1] == q + "t" for k in keys):
                self._array(arrays, q, point, "t")
                lines.append(f"{indent}const double {q}t = {q}ts[l];")
        self._load(lines, [k for k in keys if k[1] == "w"], "w", indent)
        self._load(lines, [k for k in keys if k[1] == "given"], "called", indent)
        return "".join(line + "\n" for line in lines)

    def _load(self, lines, keys, array, indent):
        if keys:
            lines += listed(indent + "const double ", [f"{self._variable(k)} = {array}[{k[2]}*L + l]" for k in keys],
                            ";", len(indent) + 4)

    def _array(self, arrays, q, point, space):
        given = f"{point}->{space}"
        if q or space == "t":                              # may be NULL
            given += f" ? {given} : lane_zeros"
            self.longest = max(self.longest, 1 if space == "t" else self.names.length(space))
        arrays[f"    const double *restrict {q}{ARRAYS[space]} = {given};\n"] = True

    # ---- instances ----

    def _instance(self, name, arguments):
        call = f"{name}_of(L, {', '.join(_words(arguments))})"
        self.instances += _signature(f"COSTATE_LANES_##L static int {name}_##L", arguments + ["void *ctx"]).splitlines()
        self.instances += ["{", f"    return {call}, (void)ctx, 0;", "}"]

    def _instances(self):
        return _macro(["#define CALLBACKS(L)", *self.instances]) + "\n" + wanted("CALLBACKS({0})") + "\n"


def wanted(line):
    """This line for each number of lanes, or only for that which -DCOSTATE_LANES_ONLY=L names: most of the time to
    compile is spent on the functions of all lanes, once for each number."""
    return "".join(f"#if !defined COSTATE_LANES_ONLY || COSTATE_LANES_ONLY == {k}\n{line.format(k)}\n#endif\n"
                   for k in SIZES)


def _in_lane(t):
    """A target for one member as that of lane l"""
    if t.guard == "g->t":
        return Target("gt[l]", t.op, t.node, t.guard)
    lhs = re.sub(r"\[(\d+)\]", r"[\1*L + l]", t.lhs)
    return Target(lhs, t.op, t.node, t.guard)


def _plain(arguments):
    return [a.replace("*restrict ", "*") for a in arguments]


def _words(arguments):
    return [a.split()[-1].lstrip("*") for a in arguments]


def _call(name, arguments):
    return f"{name}_of(L, {', '.join(_words(arguments))})"


def _function(name, arguments, text):
    """A function of all lanes with the statements of text; arguments that it does not use are named"""
    unused = [a for a in _words(arguments) if not re.search(rf"(?<![\w>.]){a}\b", text)]
    end = f"    (void){', (void)'.join(unused)};\n" if unused else ""
    return _signature(f"LANE_CODE void {name}", ["const int L", *arguments]) + "{\n" + text + end + "}\n"


def _signature(before, arguments):
    return "\n".join(listed(before + "(", arguments, ")", len(before) + 1)) + "\n"


def _macro(lines):
    return " \\\n".join(lines) + "\n"
