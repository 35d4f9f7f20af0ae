// reader.js - the statements of an equation file as trees: codegen/equations/read.py and declare.py, for models of
// single states that are smooth between the start and the end.  Other statements are refused by name.
"use strict";

const NOT_SERVED = {
    event: "events", memory: "memory variables", mode: "modes", stop: "stops", table: "tables", size: "grids",
    grid: "grids", boundary: "grids", layout: "grids", kinks: "kinks", include: "included files",
    start: "starts in a limit", unit: "checks of units", function: "functions in C",
};
/* Quantities are {kind, name, place, index, order, tree, unit, text}; known: name -> {kind, q or what a let is}. */
class Reader {
    constructor(text) {
        this.tokens = new Tokens(text);
        this.name = "model";
        this.known = new Map([["t", {kind: "time"}]]);
        Object.assign(this, {states: [], parameters: [], costs: [], outputs: [], equations: [], reactions: []});
        this.statements();
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
            if (!t.is("\n")) refuse(t.peek().place, `expected the end of the line, found ${t.found()}`);
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
        if (word in NOT_SERVED) refuse(place, `${NOT_SERVED[word]} are not served on this page: use costate-model`);
        if (!(word in read)) {
            refuse(place, `${word} does not begin a statement; lines begin with ${Object.keys(read).join(", ")}, or ` +
                "are an equation, as x' = -k*x, or a reaction, as A -> B : k");
        }
        read[word]();
    }

    named() {
        this.name = this.tokens.take("name", "a name").text;
        if (this.tokens.is("text")) this.text = this.tokens.next().text.slice(1, -1);
    }

    declare({text: name, place}, what) {
        if (TABLE.reserved.includes(name))
            refuse(place, `${name} is a word of the language; choose another name`);
        if (this.known.has(name)) refuse(place, `${name} is declared twice`);
        this.known.set(name, what);
    }

    quantity(kind, into) {
        const token = this.tokens.take("name", `the name of a ${kind}`);
        if (this.tokens.is("[")) refuse(token.place, "vectors are not served on this page: use costate-model");
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
        });
    }

    /* of an algebraic variable: 1 or 2 */
    indexOf(q) {
        if (!q.order || !this.tokens.word("index")) return;
        const token = this.tokens.take("number", "1 or 2");
        if (!["1", "2"].includes(token.text)) refuse(token.place, "the index of an algebraic variable is 1 or 2");
        q.order = Number(token.text);
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
        if (this.tokens.word("for")) refuse(place, "loops are not served on this page: use costate-model");
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
            if (count < 0) refuse(token.place, `the rate cannot depend on minus ${token.text}: only products may be ` +
                "subtracted");
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
        if (!t.is(...ends)) refuse(t.peek().place, `expected + or the arrow of a reaction, found ${t.found()}`);
        return out;
    }

    /* an expression, or NAME = NUMBER, which declares a parameter */
    rate() {
        if (!this.tokens.is("name") || this.tokens.peek(1).kind !== "=") return this.tokens.expression();
        const q = this.quantity("parameter", this.parameters);
        this.tokens.take("=");
        q.tree = this.tokens.expression();
        this.remarks(q);
        return {kind: "name", place: q.place, name: q.name};
    }
}
