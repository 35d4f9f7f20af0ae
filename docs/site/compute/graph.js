// graph.js - expressions as nodes of a graph in which equal ones are one node, and their derivatives as further nodes.
//
// Nodes and simplifications are those of codegen/equations/nodes.py, the derivatives those of graph.py, without
// conditions and arrays: the same model has the same operations in the same order.  TABLE (table.py) has the
// derivatives of functions.
"use strict";

const WITH_HEAD = new Set(["f", "g", "cmp"]);

class Graph {
    constructor() {
        this.nodes = [];                    // [kind, ...]
        this.index = new Map();
    }

    node(...key) {
        const text = JSON.stringify(key);
        if (!this.index.has(text)) {
            this.index.set(text, this.nodes.length);
            this.nodes.push(key);
        }
        return this.index.get(text);
    }

    children(a) {
        const key = this.nodes[a];
        return key[0] === "c" || key[0] === "v" ? [] : key.slice(WITH_HEAD.has(key[0]) ? 2 : 1);
    }

    // ---- building ----

    c(value) { return this.node("c", value + 0); }              // one zero
    v(space, index = 0) { return this.node("v", space, index); }
    constant(a) { return this.nodes[a][0] === "c" ? this.nodes[a][1] : null; }
    isZero(a) { return this.constant(a) === 0; }
    folded(value, ...otherwise) { return Number.isFinite(value) ? this.c(value) : this.node(...otherwise); }
    inOrder(kind, a, b) { return this.node(kind, Math.min(a, b), Math.max(a, b)); }

    add(a, b) {
        const x = this.constant(a), y = this.constant(b);
        if (x !== null && y !== null) return this.folded(x + y, "+", a, b);
        if (x === 0) return b;
        if (y === 0) return a;
        if (this.isNegative(b)) return this.sub(a, this.neg(b));
        if (this.isNegative(a)) return this.sub(b, this.neg(a));
        return a === b ? this.mul(this.c(2), a) : this.inOrder("+", a, b);
    }

    sub(a, b) {
        const x = this.constant(a), y = this.constant(b);
        if (x !== null && y !== null) return this.folded(x - y, "-", a, b);
        if (y === 0) return a;
        if (x === 0) return this.neg(b);
        if (a === b) return this.c(0);
        if (this.isNegative(b)) return this.add(a, this.neg(b));
        if (this.nodes[a][0] === "neg") return this.neg(this.add(this.nodes[a][1], b));
        return this.node("-", a, b);
    }

    /* -x, or a negative constant times x */
    isNegative(a) {
        const key = this.nodes[a];
        return key[0] === "neg" || key[0] === "*" && (this.constant(key[1]) ?? 0) < 0;
    }

    neg(a) {
        const key = this.nodes[a];
        if (key[0] === "c") return this.c(-key[1]);
        if (key[0] === "neg") return key[1];
        if (key[0] === "-") return this.node("-", key[2], key[1]);
        if (key[0] === "*" && this.constant(key[1]) !== null) return this.mul(this.c(-this.constant(key[1])), key[2]);
        return this.node("neg", a);
    }

    mul(a, b) {
        if (this.constant(b) !== null) [a, b] = [b, a];
        const x = this.constant(a), y = this.constant(b);
        if (x !== null && y !== null) return this.folded(x * y, "*", a, b);
        if (x !== null) return x === 0 ? a : x === 1 ? b : x === -1 ? this.neg(b) : this.scaled(x, a, b);
        if (this.nodes[a][0] === "neg") return this.neg(this.mul(this.nodes[a][1], b));
        if (this.nodes[b][0] === "neg") return this.neg(this.mul(a, this.nodes[b][1]));
        return this.inOrder("*", a, b);
    }

    /* x b, with the constants of b taken together */
    scaled(x, a, b) {
        const key = this.nodes[b];
        if (key[0] === "neg") return this.mul(this.c(-x), key[1]);
        const inner = key[0] === "*" ? this.constant(key[1]) : null;
        if (inner !== null && Math.abs(x * inner) > 1e-300 && Math.abs(x * inner) < Infinity)
            return this.mul(this.c(x * inner), key[2]);
        return this.node("*", a, b);
    }

    /* a/b as a (1/b): quotients with the same denominator share its reciprocal */
    div(a, b) {
        const x = this.constant(a), y = this.constant(b);
        if (this.wholePower(b)) return this.mul(a, this.pow(this.nodes[b][1], this.neg(this.nodes[b][2])));
        if (y === 0) return this.node("/", a, b);
        if (x !== null && y !== null) return this.folded(x / y, "/", a, b);
        if (x === 0) return a;
        if (y !== null) {
            if (Math.abs(y) === 1) return y === 1 ? a : this.neg(a);
            return isPowerOfTwo(y) ? this.mul(this.c(1 / y), a) : this.node("/", a, b);
        }
        if (this.nodes[a][0] === "neg") return this.neg(this.div(this.nodes[a][1], b));
        return x === 1 ? this.node("/", a, b) : this.mul(a, this.node("/", this.c(1), b));
    }

    pow(a, b) {
        const y = this.constant(b);
        if (isWhole(y)) {
            if (Math.abs(y) <= 1 || this.constant(a) !== null) {
                const power = this.product(a, Math.abs(y));
                return y >= 0 ? power : this.div(this.c(1), power);
            }
            if (this.nodes[a][0] === "neg") {
                const power = this.pow(this.nodes[a][1], b);
                return y % 2 ? this.neg(power) : power;
            }
            return this.node("pow", a, b);
        }
        if (y === 0.5) return this.f("sqrt", a);
        return y === -0.5 ? this.div(this.c(1), this.f("sqrt", a)) : this.node("pow", a, b);
    }

    /* the exponent of a power that becomes a product; else 0 */
    wholePower(a) {
        const y = this.nodes[a][0] === "pow" ? this.constant(this.nodes[a][2]) : null;
        return isWhole(y) ? y : 0;
    }

    /* a^k by squares */
    product(a, k) {
        let power = this.c(1);
        for (let square = a; k; square = k ? this.mul(square, square) : square) {
            if (k & 1) power = this.mul(power, square);
            k >>= 1;
        }
        return power;
    }

    f(name, a) { return this.node("f", name, a); }
    g(name, a, b) { return this.node("g", name, a, b); }
    sel(condition, a, b) { return a === b ? a : this.node("sel", condition, a, b); }

    /* the node of this kind; head: the name of a function or comparison */
    again(kind, head, below) {
        const build = {"+": "add", "-": "sub", "*": "mul", "/": "div"}[kind] ?? kind;
        return this[build] ? this[build](...head, ...below) : this.node(kind, ...head, ...below);
    }

    // ---- going over it ----

    /* all nodes below roots, each after its children */
    order(roots) {
        const seen = new Set(), out = [], stack = [...roots].reverse();
        while (stack.length) {
            const a = stack.pop();
            if (a < 0) out.push(-1 - a);
            else if (!seen.has(a)) {
                seen.add(a);
                stack.push(-1 - a, ...this.children(a).reverse().filter(b => !seen.has(b)));
            }
        }
        return out;
    }

    /* the numbers of the variables of a space below roots, increasing */
    used(roots, space) {
        const found = this.order(roots).map(a => this.nodes[a]).filter(key => key[0] === "v" && key[1] === space);
        return found.map(key => key[2]).sort((a, b) => a - b);
    }

    /* roots with whole powers as products, x^(k + 1/2) as products with sqrt(x), and parts of derivatives written out:
       not before derivatives are formed */
    printable(roots) {
        const made = new Map();
        for (const a of this.order(roots)) {
            const key = this.nodes[a], below = this.children(a).map(b => made.get(b));
            if (!below.length) made.set(a, a);
            else if (key[0] === "pow") made.set(a, this.power(...below));
            else if (TABLE.writtenOut[key[1]])
                made.set(a, this.printable([this.expression(TABLE.writtenOut[key[1]], {x: below[0], y: below[1]})])[0]);
            else made.set(a, this.again(key[0], WITH_HEAD.has(key[0]) ? [key[1]] : [], below));
        }
        return roots.map(a => made.get(a));
    }

    power(a, b) {
        const y = this.constant(b);
        if (y === null || !Number.isInteger(2 * y) || Math.abs(y) > TABLE.mostFactors) return this.pow(a, b);
        const base = y > 0 ? a : this.div(this.c(1), a);
        if (Number.isInteger(y)) return this.product(base, Math.abs(y));
        return this.mul(this.product(base, Math.abs(y) - 0.5), this.f("sqrt", base));
    }

    /* operations, in additions */
    cost(roots) {
        const one = a => {
            const key = this.nodes[a], y = Math.abs(this.wholePower(a));
            if (y) {
                const bits = y.toString(2);
                return bits.length + bits.replaceAll("0", "").length - 2 + TABLE.costs["/"] * (this.wholePower(a) < 0);
            }
            return key[0] === "f" ? TABLE.costs["f " + key[1]] ?? TABLE.costOfFunction : TABLE.costs[key[0]] ?? 0;
        };
        return this.order(roots).reduce((sum, a) => sum + one(a), 0);
    }

    // ---- derivatives ----

    /* a derivative of the table, with what its names stand for */
    expression(text, names) {
        if (typeof text === "string") return names[text];
        if (typeof text === "number") return this.c(text);
        const [kind, ...rest] = text, head = WITH_HEAD.has(kind) ? 1 : 0;
        return this.again(kind, rest.slice(0, head), rest.slice(head).map(one => this.expression(one, names)));
    }

    /* [[child, factors of the derivative with respect to it]] */
    partials(a) {
        const [kind, x, y, z] = this.nodes[a], one = this.c(1);
        switch (kind) {
        case "+": return [[x, [one]], [y, [one]]];
        case "-": return [[x, [one]], [y, [this.c(-1)]]];
        case "neg": return [[x, [this.c(-1)]]];
        case "*": return [[x, [y]], [y, [x]]];
        case "/": return this.constant(x) === 1 ? [[y, [this.neg(a), a]]] : [[x, [this.div(one, y)]]];
        case "pow": return this.ofPower(a, x, y);
        case "f": return [[y, [this.expression(TABLE.derivatives[x][0], {x: y, a})]]];
        case "g": return [y, z].map((b, k) => [b, [this.expression(TABLE.derivatives[x][k], {x: y, y: z, a})]]);
        default: return [];
        }
    }

    ofPower(a, x, y) {
        if (this.constant(y) !== null) return [[x, [this.mul(y, this.pow(x, this.sub(y, this.c(1))))]]];
        return [x, y].map((b, k) => [b, [this.expression(TABLE.derivatives.pow[k], {x, y, a})]]);
    }

    times(factors, d) { return factors.reduceRight((product, factor) => this.mul(factor, product), d); }

    /* d roots, where seed maps variables to their directions */
    tangent(roots, seed) {
        const d = new Map(), zero = this.c(0);
        for (const a of this.order(roots)) {
            const key = this.nodes[a];
            if (key[0] === "v") d.set(a, seed.get(a) ?? zero);
            else if (key[0] === "sel") d.set(a, this.sel(key[1], d.get(key[2]), d.get(key[3])));
            else if (this.children(a).every(b => d.get(b) === zero)) d.set(a, zero);
            else {
                d.set(a, this.partials(a).filter(([b]) => d.get(b) !== zero)
                    .reduce((sum, [b, p]) => this.add(sum, this.times(p, d.get(b))), zero));
            }
        }
        return roots.map(a => d.get(a));
    }

    /* the gradient of the sum of weights times roots, which have no conditions, with respect to the variables wanted */
    adjoint(roots, weights, wanted) {
        const zero = this.c(0), bar = new Map(), order = this.order(roots), live = new Set(wanted);
        const give = (b, w) => {
            if (live.has(b) && w !== zero) bar.set(b, this.add(bar.get(b) ?? zero, w));
        };
        for (const a of order) if (this.children(a).some(b => live.has(b))) live.add(a);
        roots.forEach((a, k) => give(a, weights[k]));
        for (const a of order.reverse())
            if (bar.has(a)) for (const [b, p] of this.partials(a)) if (live.has(b)) give(b, this.times(p, bar.get(a)));
        return wanted.map(a => bar.get(a) ?? zero);
    }
}

/* whether powers with this exponent become products */
function isWhole(y) { return y !== null && Number.isInteger(y) && Math.abs(y) <= TABLE.mostFactors; }

/* whether 1/x is exact and no denormal or infinite number */
function isPowerOfTwo(x) {
    const size = Math.abs(x);
    return size > 1e-307 && size < 1e307 && 2 ** Math.round(Math.log2(size)) === size;
}
