// syntax.js - tokens of an equation file, each with its place, and expressions as trees: codegen/equations/syntax.py,
// without indices and conditions.
//
// A tree is {kind, place, ...}: number (text), name (name), call (name, of), prime (name), unary (of), binary (op, of).
"use strict";

const TOKEN = new RegExp([
    "(?<number>(?:\\d+(?:\\.(?!\\.)\\d*)?|\\.\\d+)(?:[eEdD][-+]?\\d+)?)", "(?<name>[A-Za-z_]\\w*)",
    "(?<symbol><->|->|\\*\\*|:=|\\+=|==|!=|>=|<=|\\.\\.|[-+*/^()\\[\\],:;=<>'|])",
    "(?<unit>\\{[^}\\n]*\\})", "(?<text>\"[^\"\\n]*\")", "(?<newline>\\n)"].join("|"), "y");
const BLANK = /[ \t\r]*(?:(?:#|\/\/)[^\n]*)?/y;
const DEEPEST = 100;                        // parentheses inside each other
const COMPARISONS = new Set(["<", ">", "<=", ">=", "==", "!="]);

/* What is wrong at a place of the text. */
class Fault extends Error {
    constructor(place, what) {
        super(what);
        this.place = place;
    }

    /* a sentence with the line and a caret below the place */
    sentence(text) {
        const place = Math.min(this.place, text.length), start = text.lastIndexOf("\n", place - 1) + 1;
        const line = text.slice(start).split("\n", 1)[0], number = text.slice(0, place).split("\n").length;
        const end = this.message.endsWith("?") ? "" : ".", column = place - start;
        return `Line ${number}, column ${column + 1}: ${this.message}${end}\n    ${line}\n    ${" ".repeat(column)}^`;
    }
}

function refuse(place, what) { throw new Fault(place, what); }

function tokensOf(text) {
    const out = [];
    let depth = 0, at = 0;
    for (;;) {
        BLANK.lastIndex = at;
        at += BLANK.exec(text)[0].length;
        if (at >= text.length) break;
        TOKEN.lastIndex = at;
        const found = TOKEN.exec(text);
        if (!found) refuse(at, strange(text[at]));
        const [kind, words] = Object.entries(found.groups).find(([, words]) => words !== undefined);
        depth += (words === "(" || words === "[") - (words === ")" || words === "]");
        if (words === ";" && depth <= 0) out.push({kind: "\n", text: words, place: at});
        else if (kind !== "newline" || depth <= 0 && !(out.length && out[out.length - 1].text === ","))
            out.push({kind: kind === "symbol" || kind === "newline" ? words : kind, text: words, place: at});
        at += words.length;
    }
    return [...out, {kind: "\n", text: "\n", place: at}, {kind: "end", text: "", place: at}];
}

function strange(character) {
    return "\"{".includes(character) ? `this ${character} is not closed on its line`
        : `'${character}' is not a character of equations`;
}

/* a number may have the exponent of Fortran, 1d3 */
function numberOf(token) {
    const value = Number(token.text.toLowerCase().replace("d", "e"));
    if (!Number.isFinite(value)) refuse(token.place, `${token.text} is too large a number`);
    return value;
}

/* A cursor over tokens. */
class Tokens {
    constructor(text) {
        this.list = tokensOf(text);
        this.at = this.depth = 0;
    }

    peek(k = 0) { return this.list[Math.min(this.at + k, this.list.length - 1)]; }
    next() { return this.list[Math.min(this.at++, this.list.length - 1)]; }
    is(...kinds) { return kinds.includes(this.peek().kind); }
    skip(kind) { return this.is(kind) && !!this.next(); }
    word(text) { return this.is("name") && this.peek().text === text && !!this.next(); }

    take(kind, what = `'${kind}'`) {
        if (!this.is(kind)) refuse(this.peek().place, `expected ${what}, found ${this.found()}`);
        return this.next();
    }

    found() {
        const text = this.peek().text.trim();
        return text ? `'${text}'` : "the end of the line";
    }

    commas(one) {
        const out = [one()];
        while (this.skip(",")) out.push(one());
        return out;
    }

    deeper(read) {
        this.depth++;
        if (this.depth > DEEPEST) refuse(this.peek().place, "too many parentheses or powers inside each other");
        const out = read();
        this.depth--;
        return out;
    }

    expression() { return this.deeper(() => this.joined(["+", "-"], () => this.products())); }

    joined(operators, operand) {
        let a = operand();
        while (this.is(...operators)) {
            const {kind: op, place} = this.next();
            a = {kind: "binary", place, op, of: [a, operand()]};
        }
        return a;
    }

    products() {
        const a = this.joined(["*", "/"], () => this.signed());
        if (this.is("number", "(") || this.is("name") && !TABLE.after.includes(this.peek().text))
            refuse(this.peek().place, `expected an operator before ${this.found()}; products are written with *`);
        if (COMPARISONS.has(this.peek().kind))
            refuse(this.peek().place, "conditions are not served on this page: use costate-model");
        return a;
    }

    signed() {
        const place = this.peek().place;
        let minus = false;
        while (this.is("+", "-")) minus = (this.next().kind === "-") !== minus;
        const a = this.powers();
        return minus ? {kind: "unary", place, of: [a]} : a;
    }

    powers() {
        const a = this.atom();
        if (!this.is("^", "**")) return a;
        const place = this.next().place;
        return {kind: "binary", place, op: "^", of: [a, this.deeper(() => this.signed())]};
    }

    atom() {
        const {kind, text, place} = this.peek();
        if (kind === "number") return {kind, place, value: numberOf(this.next())};
        if (this.skip("(")) {
            const a = this.expression();
            this.take(")");
            return a;
        }
        if (kind !== "name" || TABLE.after.includes(text))
            refuse(place, `expected an expression, found ${this.found()}`);
        this.next();
        if (this.is("[")) refuse(place, "vectors and fields are not served on this page: use costate-model");
        if (this.skip("(")) return this.call(text, place);
        return {kind: this.skip("'") ? "prime" : "name", place, name: text};
    }

    call(name, place) {
        if (TABLE.withKinks.includes(name))
            refuse(place, `${name} is not served on this page, because it has kinks or jumps: use costate-model`);
        if (name === "sum" && this.peek(1).kind === "=")
            refuse(place, "sums over an index are not served on this page: write them out");
        const of = this.is(")") ? [] : this.commas(() => this.expression());
        this.take(")");
        return {kind: "call", place, name, of};
    }
}
