// reader.js - an equation file becomes a model: codegen/equations/read.py and assemble.py, for models of single states
// that are smooth between the start and the end.
//
// Served: model, parameter, state, algebraic, let, cost, output, kinks; x' = ..., 0 = ...; reactions.  The others are
// refused by name.
"use strict";

const NOT_SERVED = {
    event: "events", memory: "memory variables", mode: "modes", stop: "stops", table: "tables", size: "grids",
    grid: "grids", boundary: "grids", layout: "grids", kinks: "kinks",
};
const DEEPEST_NAMES = 60;                   // names and macros inside each other
const PLACES = {state: "y", parameter: "p"};

/* A model: quantities {name, place, index, value, unit, text}, and nodes of its graph; mass: null or the diagonal. */
class Model {
    constructor(text) {
        this.graph = new Graph();
        this.tokens = new Tokens(text);
        this.name = "model";
        this.known = new Map([["t", {kind: "time"}]]);
        this.made = new Map();              // let, or macro with arguments: node
        Object.assign(this, {states: [], parameters: [], costs: [], outputs: [], equations: [], reactions: []});
        this.statements();
        this.assemble();
    }

    // ---- statements ----

    statements() {
        const t = this.tokens;
        while (!t.is("end")) {
            if (t.skip("\n")) continue;
            const {text, place} = t.peek(), after = t.peek(1).kind;
            if (t.is("name") && (after === "name" || text === "reactions" && [":", "\n"].includes(after)))
                this.statement(t.next().text, place);
            else if (this.isReaction()) this.reaction();
            else this.equation();
            if (!t.is("\n")) throw new Fault(t.peek().place, `expected the end of the line, found ${t.found()}`);
        }
    }

    statement(word, place) {
        const read = {
            model: () => this.named(), let: () => this.let_(), reactions: () => this.tokens.skip(":"),
            parameter: () => this.quantities("parameter", this.parameters),
            state: () => this.quantities("state", this.states),
            algebraic: () => this.quantities("algebraic", this.states),
            cost: () => this.expressions("cost", this.costs), output: () => this.expressions("output", this.outputs),
        };
        if (word in NOT_SERVED) throw new Fault(place, `${NOT_SERVED[word]} are not served on this page: use costate-model`);
        if (!(word in read)) {
            throw new Fault(place, `${word} does not begin a statement: they begin with ${Object.keys(read).join(", ")}, ` +
                "or are equations, as in x' = -k*x, or reactions, as in A -> B : k");
        }
        read[word]();
    }

    named() {
        this.name = this.tokens.take("name", "a name").text;
        if (this.tokens.is("text")) this.text = this.tokens.next().text.slice(1, -1);
    }

    declare({text: name, place}, what) {
        if (TABLE.reserved.includes(name))
            throw new Fault(place, `${name} is a word of the language; choose another name`);
        if (this.known.has(name)) throw new Fault(place, `${name} is declared twice`);
        this.known.set(name, what);
    }

    quantity(kind, into) {
        const token = this.tokens.take("name", `the name of a ${kind}`);
        if (this.tokens.is("[")) throw new Fault(token.place, "vectors are not served on this page: use costate-model");
        const q = {kind, name: token.text, place: token.place, index: into.length, order: 0, tree: null};
        this.declare(token, {kind: kind === "algebraic" ? "state" : kind, q});
        into.push(q);
        return q;
    }

    quantities(kind, into) {
        this.tokens.commas(() => {
            const q = this.quantity(kind, into);
            if (kind === "algebraic") q.order = 1;
            this.indexOf(q);
            if (this.tokens.skip("=")) q.tree = this.tokens.expression();
            this.indexOf(q);
            this.remarks(q);
            if (kind === "parameter") q.value = q.tree ? this.number(q.tree) : 0;
        });
    }

    /* of an algebraic variable: 1 or 2 */
    indexOf(q) {
        if (!q.order || !this.tokens.word("index")) return;
        const token = this.tokens.take("number", "1 or 2");
        if (!["1", "2"].includes(token.text)) throw new Fault(token.place, "the index of an algebraic variable is 1 or 2");
        q.order = Number(token.text);
    }

    number(tree) {
        if (tree.kind === "name" && tree.name === "nan")
            throw new Fault(tree.place, "a parameter without a value is not served on this page: write a number");
        const value = this.graph.constant(this.node(tree, [], "the default of a parameter is a number"));
        if (value === null) throw new Fault(tree.place, "the default of a parameter is a number");
        return value;
    }

    remarks(q) {
        if (this.tokens.is("unit")) q.unit = this.tokens.next().text.slice(1, -1).trim();
        if (this.tokens.is("text")) q.text = this.tokens.next().text.slice(1, -1).trim();
    }

    let_() {
        const token = this.tokens.take("name", "a name"), names = [];
        if (this.tokens.skip("(")) {
            names.push(...this.tokens.commas(() => this.tokens.take("name", "an argument").text));
            this.tokens.take(")");
        }
        this.tokens.take("=");
        this.declare(token, {kind: "let", names, tree: this.tokens.expression()});
    }

    /* cost q' = ..., output c = ... */
    expressions(kind, into) {
        const q = this.quantity(kind, into);
        if (kind === "cost") this.tokens.take("'", `${q.name}' = and an expression`);
        this.tokens.take("=");
        q.tree = this.tokens.expression();
        this.remarks(q);
    }

    // ---- equations and reactions ----

    equation() {
        const place = this.tokens.peek().place, left = this.tokens.expression();
        this.tokens.take("=");
        this.equations.push({place, left, right: this.tokens.expression()});
        if (this.tokens.word("for")) throw new Fault(place, "loops are not served on this page: use costate-model");
    }

    isReaction() {
        for (let k = 0; !["\n", "end"].includes(this.tokens.peek(k).kind); k++)
            if (["->", "<->"].includes(this.tokens.peek(k).kind)) return true;
        return false;
    }

    /* A + 2 B -> C : k = 3, or A <-> B : forward, back */
    reaction() {
        const t = this.tokens, place = t.peek().place, left = this.side();
        const both = t.next().kind === "<->", right = this.side();
        for (const {count, token} of [...left, ...(both ? right : [])])
            if (count < 0) throw new Fault(token.place, `the rate cannot depend on minus ${token.text}: only products may ` +
                "be subtracted");
        t.take(":", "':' and the rate constant");
        this.reactions.push({place, left, right, rate: this.rate()});
        if (!both) return;
        t.take(",", "',' and the rate constant of the way back");
        this.reactions.push({place, left: right, right: left, rate: this.rate()});
    }

    /* [{count, token}], empty if it is 0 or nothing */
    side() {
        const t = this.tokens, out = [], ends = ["->", "<->", ":"];
        if (t.is(...ends)) return out;
        let sign = 1;
        if (t.is("number") && t.peek().text === "0") {
            if (ends.includes(t.peek(1).kind)) return t.next(), out;
            if (t.peek(1).kind === "-") t.next(), t.next(), sign = -1;
        }
        for (;;) {
            const count = t.is("number") ? numberOf(t.next()) : 1;
            t.skip("*");
            out.push({count: sign * count, token: t.take("name", "a species")});
            if (!t.is("+", "-")) break;
            sign = t.next().kind === "-" ? -1 : 1;
        }
        if (!t.is(...ends)) throw new Fault(t.peek().place, `expected + or the arrow of a reaction, found ${t.found()}`);
        return out;
    }

    /* an expression, or NAME = NUMBER, which declares a parameter */
    rate() {
        if (!this.tokens.is("name") || this.tokens.peek(1).kind !== "=") return this.tokens.expression();
        const q = this.quantity("parameter", this.parameters);
        this.tokens.take("=");
        q.value = this.number(this.tokens.expression());
        this.remarks(q);
        return {kind: "name", place: q.place, name: q.name};
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
        case "prime": throw new Fault(tree.place, `${tree.name}' may not occur here: ${this.why}`);
        default: return this.variable(tree, bound, depth);
        }
    }

    operation({op, place, of}, a, b) {
        const g = this.graph;
        if (op === "/" && g.isZero(b)) throw new Fault(of[1].place, "division by zero");
        if (op === "^" && g.isZero(a) && g.constant(b) < 0) throw new Fault(place, "division by zero");
        return {"+": () => g.add(a, b), "-": () => g.sub(a, b), "*": () => g.mul(a, b), "/": () => g.div(a, b),
            "^": () => g.pow(a, b)}[op]();
    }

    call({name, place}, given, depth) {
        const own = this.known.get(name), f = TABLE.aliases[name] ?? name;
        const wanted = own?.kind === "let" ? own.names.length : Object.hasOwn(TABLE.derivatives, f) &&
            TABLE.reserved.includes(f) ? TABLE.derivatives[f].length : 0;
        if (!wanted) throw new Fault(place, `${name} is not a function` + near(name, this.functions()));
        if (given.length !== wanted) throw new Fault(place, `${name} needs ${wanted} argument${wanted > 1 ? "s" : ""}, not ` +
            `${given.length}`);
        if (own?.kind === "let") return this.expanded(name, place, own, given, depth);
        if (f === "pow") return this.graph.pow(...given);
        return wanted === 1 ? this.graph.f(f, ...given) : this.graph.g(f, ...given);
    }

    functions() {
        const macros = [...this.known].filter(([, own]) => own.kind === "let" && own.names.length).map(([name]) => name);
        return [...Object.keys(TABLE.derivatives).filter(f => TABLE.reserved.includes(f)), ...Object.keys(TABLE.aliases),
            ...macros];
    }

    expanded(name, place, own, given, depth) {
        if (depth > DEEPEST_NAMES) throw new Fault(place, `${name} uses itself, or names are nested too deeply`);
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
        if (!known) {
            throw new Fault(place, this.functions().includes(name) ? `${name} is a function; its arguments are missing`
                : `${name} is not declared` + near(name, [...this.known.keys()]));
        }
        if (known.kind === "let") {
            if (known.names.length) throw new Fault(place, `${name} needs its arguments in parentheses`);
            return this.expanded(name, place, known, [], depth);
        }
        if (known.kind === "cost" || known.kind === "output")
            throw new Fault(place, `${name} is a${known.kind === "cost" ? " running cost" : "n output"}, which no expression ` +
                "can use");
        const space = known.kind === "time" ? "t" : PLACES[known.kind];
        if (!this.allowed.includes(space)) throw new Fault(place, `${name} may not occur here: ${this.why}`);
        return this.graph.v(space, known.q?.index ?? 0);
    }

    // ---- the model ----

    assemble() {
        if (!this.states.length) throw new Fault(this.tokens.peek().place, "the model declares no state");
        this.rightHandSides();
        this.kinetics();
        this.costs.forEach(q => { q.node = this.node(q.tree); });
        this.outputs.forEach(q => this.node(q.tree));
        for (const q of this.states)
            q.value = q.tree && this.node(q.tree, ["p", "t"], "an initial value depends on parameters only");
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
                throw new Fault(left.place, `${left.name} is not a state` + near(left.name, this.states.map(s => s.name)));
            if (f[q.index] !== null) throw new Fault(place, `${q.name}' has a second equation`);
            if (q.order) throw new Fault(place, `${q.name} is algebraic: its equation has no ${q.name}'; write 0 = ...`);
            this.graph.v("yp", q.index);                // as codegen does: nodes have the same numbers
            f[q.index] = this.node(right);
        }
        const reacting = new Set(this.reactions.flatMap(r => [...r.left, ...r.right]).map(({token}) => token.text));
        for (const q of this.states) if (reacting.has(q.name)) f[q.index] ??= this.graph.c(0);
        this.fill(f, constraints);
    }

    /* 0 = right - left */
    constraint(left, right) {
        const why = "an equation with a derivative in time has the form x' = ... on this page; for others use costate-model";
        const sides = [left, right].map(tree => this.node(tree, ["y", "p", "t"], why));
        return this.graph.neg(this.graph.sub(...sides));
    }

    /* rows without an equation of their own take the constraints in their order; the diagonal of M */
    fill(f, constraints) {
        const open = this.states.filter(q => f[q.index] === null);
        if (open.length > constraints.length) {
            const q = open[constraints.length];
            throw new Fault(q.place, `there is no equation for ${q.name}`);
        }
        if (open.length < constraints.length)
            throw new Fault(constraints[open.length].place, `there are more equations than the ${f.length} unknowns: this ` +
                "one is too many");
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
            throw new Fault(place, `${name} is not a species` + near(name, this.states.map(q => q.name)));
        return known;
    }
}

/* a hint: a name that differs in a letter, or in capitals */
function near(name, known) {
    const close = known.find(other => other.toLowerCase() === name.toLowerCase() || changes(name, other) === 1);
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
