// program.js - the byte code of a model, for the interpreter in src/program: codegen/equations/byte_code.py, which
// describes the format.
//
// Of each map the value, tangent and adjoint, and the second products that the derivatives of Rosenbrock methods need.
// Each node has a register of its own.
"use strict";

const INPUTS = ["y", "yp", "p", "t", "m"];
const FLIPPED = {">": "<", ">=": "<="};

class Program {
    constructor(model) {
        [this.model, this.g] = [model, model.graph];
        [this.doubles, this.words, this.numbers] = [[], [], []];
        const n = model.states.length, np = model.parameters.length;
        this.words.push(n, np, model.costs.length, 0, 0, 0, 0, 0, 0);
        this.map(model.f);
        this.map(model.costs.map(q => q.node));
        this.map([...model.states.map(q => q.value ?? this.g.c(0)), ...model.costs.map(() => this.g.c(0))]);
        this.map([]);
        this.jacobian(n);
        const orders = model.states.map(q => q.order);
        this.words.push(...(orders.some(order => order) ? [1, ...orders] : [0]));
        this.doubles.push(...model.parameters.map(q => q.value));
    }

    // ---- maps ----

    map(nodes) {
        this.words.push(nodes.length);
        if (!nodes.length) return;
        const g = this.g, inputs = INPUTS.flatMap(space => g.used(nodes, space).map(k => g.v(space, k)));
        const seeds = d => new Map(inputs.map(a => [a, g.v(d + g.nodes[a][1], g.nodes[a][2])]));
        const along = (roots, d) => g.tangent(roots, seeds(d)), values = roots => roots.map(node => ({node}));
        const gradient = g.adjoint(nodes, nodes.map((_, k) => g.v("w", k)), inputs);
        const targets = roots => inputs.map((a, k) => ({node: roots[k], guard: "g" + g.nodes[a][1], at: g.nodes[a][2]}))
            .filter(({node}) => !g.isZero(node));
        const tangent = along(nodes, "d"), made = {
            value: values(nodes), tangent: values(tangent), tangent2: values(along(tangent, "e")),
            adjoint: targets(gradient), adjoint_tangent: targets(along(gradient, "d")),
        };
        for (const product of TABLE.products) {
            this.words.push(product in made ? 1 : 0);
            if (product in made) this.routine(made[product]);
        }
    }

    // ---- routines ----

    /* targets: all values of a map in their order; or parts of gradients, {node, guard, at} */
    routine(targets) {
        const g = this.g, roots = g.printable(targets.map(({node}) => node)), order = g.order(roots);
        const place = new Map(), constants = order.filter(a => g.nodes[a][0] === "c");
        for (const a of constants) place.set(a, place.size);
        const loads = [false, true].map(ofColumn => this.loads(order, ofColumn, place));
        const code = this.code(order, place), guards = [...new Set(targets.map(({guard}) => guard))];
        this.words.push(place.size, constants.length, ...loads.flat(), 0);
        this.doubles.push(...constants.map(a => g.nodes[a][1]));
        const forward = guards.length === 1 && guards[0] === undefined;
        const results = forward ? roots.map(a => place.get(a)) : [];
        const rest = forward ? [] : guards;
        this.words.push(1 + rest.length, 0, code.length, results.length, 0);
        this.numbers.push(...code, ...results);
        for (const guard of rest) {
            const these = targets.flatMap((t, k) => t.guard === guard ? [t.at, place.get(roots[k])] : []);
            this.words.push(TABLE.guards.indexOf(guard), 0, these.length / 2, 0);
            this.numbers.push(...these);
        }
    }

    /* [count, (space, index, 1)...] of the variables of a point, or of directions and weights */
    loads(order, ofColumn, place) {
        const out = [];
        for (const a of order) {
            const [kind, space, index] = this.g.nodes[a];
            if (kind !== "v" || (/^[de]./.test(space) || space === "w") !== ofColumn) continue;
            place.set(a, place.size);
            out.push(TABLE.spaces.indexOf(space), index, 1);
        }
        return [out.length / 3, ...out];
    }

    /* operations one by one */
    code(order, place) {
        const words = [];
        for (const a of order) {
            if (place.has(a)) continue;
            let [kind, head] = this.g.nodes[a], below = this.g.children(a);
            if (kind === "cmp" && head in FLIPPED) [head, below] = [FLIPPED[head], below.reverse()];
            place.set(a, place.size);
            const operation = WITH_HEAD.has(kind) ? head : kind;
            words.push(TABLE.operations[operation], 1, place.get(a), ...below.map(b => place.get(b)));
        }
        return words;
    }

    // ---- matrices ----

    jacobian(n) {
        const entries = this.entries(n), {mass} = this.model;
        const diagonal = mass ? mass.flatMap((one, k) => one ? [k * n + k] : []) : [];
        for (const k of diagonal) if (!entries.has(k)) entries.set(k, this.g.c(0));
        const pattern = [...entries.keys()].sort((a, b) => a - b), dense = pattern.length === n * n;
        this.words.push(pattern.length, dense ? 0 : 1);
        if (!dense) {
            const columns = [...Array(n + 1).keys()].map(j => pattern.filter(k => k < j * n).length);
            this.words.push(...columns, ...pattern.map(k => k % n));
        }
        this.routine(pattern.map(k => ({node: entries.get(k)})));
        this.words.push(diagonal.length, ...diagonal.map(k => pattern.indexOf(k)), 0);
        this.doubles.push(...diagonal.map(() => 1));
    }

    /* {row + n column: node} of df/dy, row by row or column by column, whichever takes fewer operations */
    entries(n) {
        const g = this.g, {f} = this.model, y = f.map((_, k) => g.v("y", k));
        const uses = f.map(a => g.used([a], "y")), rows = new Map(), columns = new Map();
        f.forEach((a, i) => {
            g.adjoint([a], [g.c(1)], uses[i].map(j => y[j])).forEach((d, k) => rows.set(i + n * uses[i][k], d));
        });
        y.forEach((b, j) => {
            const these = f.map((_, i) => i).filter(i => uses[i].includes(j));
            g.tangent(these.map(i => f[i]), new Map([[b, g.c(1)]])).forEach((d, k) => columns.set(these[k] + n * j, d));
        });
        const nonzero = map => new Map([...map].filter(([, d]) => !g.isZero(d)));
        const [byRows, byColumns] = [nonzero(rows), nonzero(columns)];
        return g.cost([...byRows.values()]) <= g.cost([...byColumns.values()]) ? byRows : byColumns;
    }

    // ---- bytes ----

    bytes() {
        if (this.numbers.some(number => number > 0xffff))
            refuse(0, "the model has more operations than are served on this page: use costate-model");
        const sizes = [this.doubles.length, this.words.length, this.numbers.length], head = 24;
        const view = new DataView(new ArrayBuffer(head + 8 * sizes[0] + 4 * sizes[1] + 2 * sizes[2]));
        let at = head;
        for (const x of this.doubles) view.setFloat64(at, x, true), at += 8;
        for (const x of this.words) view.setInt32(at, x, true), at += 4;
        for (const x of this.numbers) view.setUint16(at, x, true), at += 2;
        const bytes = new Uint8Array(view.buffer);
        const first = [TABLE.magic, TABLE.version, ...sizes, checksum(bytes.subarray(head))];
        first.forEach((x, k) => view.setUint32(4 * k, x, true));
        return bytes;
    }
}

/* CRC-32 (ISO 3309) */
function checksum(bytes) {
    let crc = -1;
    for (const byte of bytes) {
        crc ^= byte;
        for (let bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc >>> 0;
}
