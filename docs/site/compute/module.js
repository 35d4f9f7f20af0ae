// module.js - the library as WebAssembly: compute.h from JavaScript.
"use strict";

const MODULE_NAMES = "wasi_snapshot_preview1";
const NOT_THERE = 52;                       // ENOSYS of WASI: a page has no files
const PIECES = 8;                           // rows of the curve in each step
const COUNTS = ["accepted", "rejected", "f", "jacobians", "factorisations", "newton"];
const [DONE, VALUE, ERROR, FIRST_COUNT] = [0, 1, 2, 3];

class Library {
    /* bytes: of the module */
    static async load(bytes) {
        const module = await WebAssembly.compile(bytes);
        const files = WebAssembly.Module.imports(module).map(({name}) => [name, () => NOT_THERE]);
        const instance = await WebAssembly.instantiate(module, {[MODULE_NAMES]: Object.fromEntries(files)});
        instance.exports._initialize();
        return new Library(instance.exports);
    }

    constructor(calls) { this.calls = calls; }

    methods() {
        return Array.from({length: this.calls.compute_methods()}, (_, k) => this.text(this.calls.compute_method(k)));
    }

    text(at) {
        const bytes = new Uint8Array(this.calls.memory.buffer, at);
        return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    }

    /* the address of a copy of an array; freed after use by `with_` */
    given(array) {
        const at = this.calls.malloc(Math.max(array.byteLength, 1));
        if (!at) throw new Error("No memory is left for this page.");
        const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
        new Uint8Array(this.calls.memory.buffer, at).set(bytes);
        return at;
    }

    with_(arrays, use) {
        const places = arrays.map(array => this.given(array));
        try {
            return use(...places);
        } finally {
            for (const at of places) this.calls.free(at);
        }
    }

    /* bytes: of a program with N states and running costs; component: its number among these */
    run(bytes, N, {method, component, t0, t1, rtol, atol, p}) {
        const name = new TextEncoder().encode(method + "\0");
        return this.with_([bytes, name, Float64Array.from(p)], (program, named, parameters) => {
            const c = this.calls.compute_new(program, bytes.length);
            if (!c) throw new Error("No memory is left for this page.");
            try {
                const status = this.calls.compute_run(c, named, component, t0, t1, rtol, atol, parameters, PIECES);
                return this.results(c, status, p.length, 1 + N);
            } finally {
                this.calls.compute_free(c);
            }
        });
    }

    doubles(at, count) { return [...new Float64Array(this.calls.memory.buffer, at, at ? count : 0)]; }

    /* curve: rows [t, y...]; the end of each step is a multiple of PIECES; running costs are NaN elsewhere */
    results(c, status, np, width) {
        const head = FIRST_COUNT + COUNTS.length, r = this.doubles(this.calls.compute_result(c), head + 2 * np);
        const rows = this.calls.compute_rows(c), curve = this.doubles(this.calls.compute_curve(c), rows * width);
        return {
            status, message: this.text(this.calls.compute_message(c)), done: r[DONE] === 1, value: r[VALUE],
            error: r[ERROR], counts: Object.fromEntries(COUNTS.map((name, k) => [name, r[FIRST_COUNT + k]])),
            gradient: r.slice(head, head + np), errors: r.slice(head + np),
            curve: Array.from({length: rows}, (_, k) => curve.slice(k * width, (k + 1) * width)),
        };
    }
}
