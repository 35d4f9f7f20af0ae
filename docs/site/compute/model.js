// model.js - the trees of an equation file become nodes: codegen/equations/scope.py and assemble.py.
"use strict";

const DEEPEST_NAMES = 60;                   // names and macros inside each other
const SHORTEST = 3;                         // of names that are compared by letters
const PLACES = {state: "y", parameter: "p"};

/* M y' = f, q' = costs: f, value (of states at the start, or null) and node (of costs) are nodes of `graph`; value of
   parameters is a number; mass: the diagonal of M, or null. */
class Model extends Reader {
    constructor(text) {
        super(text);
        this.graph = new Graph();
        this.made = new Map();              // let, or macro with arguments: node
        for (const q of this.parameters) q.value = q.tree ? this.number(q.tree) : 0;
        this.assemble();
    }

    number(tree) {
        if (tree.kind === "name" && tree.name === "nan")
            refuse(tree.place, "a parameter without a value is not served on this page: write a number");
        const value = this.graph.constant(this.node(tree, [], "the default of a parameter is a number"));
        if (value === null) refuse(tree.place, "the default of a parameter is a number");
        return value;
    }

    // ---- trees become nodes ----

    /* allowed: the spaces whose variables may occur; why: what is said of others */
    node(tree, allowed = ["y", "p", "t"], why = "a derivative in time stands only on the left of equations") {
        [this.allowed, this.why] = [allowed, why];
        return this.value(tree, new Map(), 0);
    }

    value(tree, bound, depth) {
        const g = this.graph, below = () => tree.of.map(one => this.value(one, bound, depth));
        switch (tree.kind) {
        case "number": return g.c(tree.value);
        case "unary": return g.neg(...below());
        case "binary": return this.operation(tree, ...below());
        case "call": return this.call(tree, below(), depth);
        case "prime": refuse(tree.place, `${tree.name}' may not occur here: ${this.why}`);
        default: return this.variable(tree, bound, depth);
        }
    }

    operation({op, place, of}, a, b) {
        const g = this.graph;
        if (op === "/" && g.isZero(b)) refuse(of[1].place, "division by zero");
        if (op === "^" && g.isZero(a) && g.constant(b) < 0) refuse(place, "division by zero");
        return {"+": () => g.add(a, b), "-": () => g.sub(a, b), "*": () => g.mul(a, b), "/": () => g.div(a, b),
            "^": () => g.pow(a, b)}[op]();
    }

    call({name, place}, given, depth) {
        const own = this.known.get(name), f = TABLE.aliases[name] ?? name;
        const wanted = own?.kind === "let" ? own.names.length : Object.hasOwn(TABLE.derivatives, f) &&
            TABLE.reserved.includes(f) ? TABLE.derivatives[f].length : 0;
        if (!wanted) refuse(place, `${name} is not a function` + near(name, this.functions()));
        if (given.length !== wanted) refuse(place, `${name} needs ${wanted} argument${wanted > 1 ? "s" : ""}, not ` +
            `${given.length}`);
        if (own?.kind === "let") return this.expanded(name, place, own, given, depth);
        if (f === "pow") return this.graph.pow(...given);
        return wanted === 1 ? this.graph.f(f, ...given) : this.graph.g(f, ...given);
    }

    functions() {
        const macros = [...this.known.keys()].filter(name => this.known.get(name).names?.length);
        const known = Object.keys(TABLE.derivatives).filter(f => TABLE.reserved.includes(f));
        return [...known, ...Object.keys(TABLE.aliases), ...macros];
    }

    expanded(name, place, own, given, depth) {
        if (depth > DEEPEST_NAMES) refuse(place, `${name} uses itself, or names are nested too deeply`);
        const key = [name, given, this.allowed].join();
        if (!this.made.has(key)) {
            const bound = new Map(own.names.map((argument, k) => [argument, given[k]]));
            this.made.set(key, this.value(own.tree, bound, depth + 1));
        }
        return this.made.get(key);
    }

    variable({name, place}, bound, depth) {
        if (bound.has(name)) return bound.get(name);
        const known = this.known.get(name);
        if (!known && Object.hasOwn(TABLE.constants, name)) return this.graph.c(TABLE.constants[name]);
        if (!known) {
            refuse(place, this.functions().includes(name) ? `${name} is a function; its arguments are missing`
                : `${name} is not declared` + near(name, [...this.known.keys()]));
        }
        if (known.kind === "let") {
            if (known.names.length) refuse(place, `${name} needs its arguments in parentheses`);
            return this.expanded(name, place, known, [], depth);
        }
        if (known.kind === "cost" || known.kind === "output")
            refuse(place, `${name} is ${known.kind === "cost" ? "a running cost" : "an output"}, which no other uses`);
        const space = known.kind === "time" ? "t" : PLACES[known.kind];
        if (!this.allowed.includes(space)) refuse(place, `${name} may not occur here: ${this.why}`);
        return this.graph.v(space, known.q?.index ?? 0);
    }

    // ---- the model ----

    assemble() {
        this.rightHandSides();
        this.kinetics();
        this.costs.forEach(q => { q.node = this.node(q.tree); });
        this.outputs.forEach(q => this.node(q.tree));
        for (const q of this.states)
            q.value = q.tree && this.node(q.tree, ["p", "t"], "an initial value depends on parameters only");
        if (!this.states.length) refuse(this.tokens.peek().place, "the model declares no state");
    }

    rightHandSides() {
        const f = this.f = this.states.map(() => null), constraints = [];
        for (const {place, left, right} of this.equations) {
            if (left.kind !== "prime") {
                constraints.push({place, node: this.constraint(left, right)});
                continue;
            }
            const q = this.known.get(left.name)?.q;
            if (this.known.get(left.name)?.kind !== "state")
                refuse(left.place, `${left.name} is not a state` + near(left.name, this.states.map(s => s.name)));
            if (f[q.index] !== null) refuse(place, `${q.name}' has a second equation`);
            if (q.order) refuse(place, `${q.name} is algebraic: its equation has no ${q.name}'; write 0 = ...`);
            this.graph.v("yp", q.index);                // as codegen does: nodes have the same numbers
            f[q.index] = this.node(right);
        }
        const reacting = new Set(this.reactions.flatMap(r => [...r.left, ...r.right]).map(({token}) => token.text));
        for (const q of this.states) if (reacting.has(q.name)) f[q.index] ??= this.graph.c(0);
        this.fill(f, constraints);
    }

    /* 0 = right - left */
    constraint(left, right) {
        const why = "on this page an equation with a derivative has the form x' = ...; for others use costate-model";
        const sides = [left, right].map(tree => this.node(tree, ["y", "p", "t"], why));
        return this.graph.neg(this.graph.sub(...sides));
    }

    /* rows without an equation of their own take the constraints in their order; the diagonal of M */
    fill(f, constraints) {
        const open = this.states.filter(q => f[q.index] === null);
        if (open.length > constraints.length) {
            const q = open[constraints.length];
            refuse(q.place, `there is no equation for ${q.name}`);
        }
        if (open.length < constraints.length)
            refuse(constraints[open.length].place, `there are more equations than the ${f.length} unknowns: this one ` +
                "is too many");
        open.forEach((q, k) => { f[q.index] = constraints[k].node; });
        this.mass = open.length ? this.states.map(q => Number(!open.includes(q))) : null;
    }

    /* rates by mass action, added to the right-hand sides */
    kinetics() {
        const g = this.graph, rates = this.reactions.map(r => this.law(r));
        for (const {k, powers, net} of rates) {
            const rate = powers.reduce((product, [i, count]) => g.mul(product, g.pow(g.v("y", i), g.c(count))), k);
            for (const [i, number] of net) this.f[i] = g.add(this.f[i], g.mul(g.c(number), rate));
        }
    }

    law({left, right, rate}) {
        const powers = new Map(), net = new Map(), g = this.graph;
        let k = this.node(rate);
        for (const {count, token} of left) {
            const {kind, q} = this.species(token);
            if (kind === "parameter") k = g.mul(k, g.pow(g.v("p", q.index), g.c(count)));
            else {
                powers.set(q.index, (powers.get(q.index) ?? 0) + count);
                net.set(q.index, (net.get(q.index) ?? 0) - count);
            }
        }
        for (const {count, token} of right) {
            const {kind, q} = this.species(token);
            if (kind === "state") net.set(q.index, (net.get(q.index) ?? 0) + count);
        }
        const sorted = map => [...map].sort((a, b) => a[0] - b[0]);
        return {k, powers: sorted(powers), net: sorted(net).filter(([, number]) => number)};
    }

    /* a state; or a parameter, whose concentration is held */
    species({text: name, place}) {
        const known = this.known.get(name);
        if (known?.kind !== "state" && known?.kind !== "parameter")
            refuse(place, `${name} is not a species` + near(name, this.states.map(q => q.name)));
        return known;
    }
}

/* a hint: a name that differs in capitals, or in a letter where others are left */
function near(name, known) {
    const close = known.find(other => other.toLowerCase() === name.toLowerCase() ||
        Math.min(name.length, other.length) >= SHORTEST && changes(name, other) === 1);
    return close ? `; did you mean ${close}?` : "";
}

/* letters that are changed, added or left out between two words (Levenshtein's distance) */
function changes(a, b) {
    let row = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i++) {
        const next = [i];
        for (let j = 1; j <= b.length; j++)
            next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1])));
        row = next;
    }
    return row[b.length];
}
