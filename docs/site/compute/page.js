// page.js - the page that computes: a form for equations, and what the library finds.
"use strict";

const DEFAULTS = {method: "auto", t0: "0", rtol: "1e-6", atol: "1e-9"};
const NUMBERS = {t0: "from t =", t1: "to t =", rtol: "rtol", atol: "atol"};
const LABELS = {method: "method", ...NUMBERS, component: "value at the end"};

const NO_ERROR = "No error.";
const FAR_APART = 100;                      // largest values of components that one axis does not show
const LONG = 1e6;                           // lengths of the first step
const [NARROWEST, WIDEST] = [320, 720];     // pictures, in pixels

function each(names, make) { return Object.fromEntries(Object.keys(names).map(name => [name, make(name)])); }
function row(cell, ...inside) { return html("tr", {}, ...inside.map(one => html(cell, {}, one))); }

function html(name, attributes = {}, ...inside) {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...inside);
    return made;
}

class Page {
    constructor(place, library) {
        this.library = library;
        this.example = html("select", {onchange: () => this.show(this.example.value)},
            ...Object.keys(EXAMPLES).map(name => html("option", {value: name}, name)));
        this.equations = html("textarea", {rows: 14, spellcheck: false, oninput: () => this.components()});
        this.equations.setAttribute("aria-label", "equations");
        this.field = {
            method: html("select", {}, ...library.methods().map(name => html("option", {}, name))),
            component: html("select"),
            ...each(NUMBERS, () => html("input", {inputMode: "decimal"})),
        };
        this.results = html("div", {className: "results"});
        this.results.setAttribute("aria-live", "polite");
        const fields = Object.entries(LABELS).map(([name, text]) => html("label", {}, text + " ", this.field[name]));
        const form = html("form", {onsubmit: event => { event.preventDefault(); this.run(); }},
            html("label", {}, "example ", this.example), this.equations, html("div", {className: "fields"}, ...fields),
            html("button", {}, "Compute"));
        place.replaceChildren(form, this.results);
        for (const [name, value] of Object.entries(DEFAULTS)) this.field[name].value = value;
        this.show(this.example.value);
    }

    show(name) {
        this.equations.value = EXAMPLES[name].text;
        this.field.t1.value = EXAMPLES[name].t1;
        this.components();
        this.run();
    }

    /* the choice of a state or running cost, which stays if the model still has it */
    components() {
        const chosen = this.field.component.value;
        let model;
        try {
            model = new Model(this.equations.value);
        } catch {
            return;                                 // while one types: `run` says what is wrong
        }
        const names = [...model.states, ...model.costs].map(q => q.name);
        this.field.component.replaceChildren(...names.map(name => html("option", {}, name)));
        if (names.includes(chosen)) this.field.component.value = chosen;
    }

    number(name) {
        const value = Number(this.field[name].value);
        if (this.field[name].value.trim() === "" || !Number.isFinite(value))
            throw new Error(`${LABELS[name]} needs a number, not "${this.field[name].value}".`);
        return value;
    }

    run() {
        this.components();
        try {
            const model = new Model(this.equations.value), names = [...model.states, ...model.costs].map(q => q.name);
            const settings = {
                method: this.field.method.value, component: names.indexOf(this.field.component.value),
                p: model.parameters.map(q => q.value),
                ...each(NUMBERS, name => this.number(name)),
            };
            const start = performance.now();
            const found = this.library.run(new Program(model).bytes(), names.length, settings);
            this.report(model, names, settings, found, performance.now() - start);
        } catch (error) {
            this.refuse(error);
        }
    }

    refuse(error) {
        const text = error instanceof Fault ? error.sentence(this.equations.value) : error.message;
        this.results.replaceChildren(html("pre", {className: "fault"}, text));
    }

    // ---- what was found ----

    report(model, names, settings, found, milliseconds) {
        const parts = [];
        if (found.message !== NO_ERROR) parts.push(html("p", {className: found.status ? "fault" : ""}, found.message));
        if (found.done) parts.push(this.value(names[settings.component], settings, found), this.gradient(model, found));
        if (found.curve.length > 1) parts.push(...this.curves(names, found), this.steps(found, milliseconds));
        this.results.replaceChildren(...parts);
    }

    value(name, {t1}, {value, error}) {
        return html("p", {}, `${name}(${t1}) = `, html("strong", {title: String(value)}, digits(value)), within(error));
    }

    /* dJ/dp of all parameters, and bars for p dJ/dp, which has the same unit for all of them */
    gradient(model, {gradient, errors}) {
        const scale = model.parameters.map(q => q.value);
        const largest = Math.max(...gradient.map((d, k) => Math.abs(d * scale[k])));
        const rows = model.parameters.map((q, k) => row("td", q.name, String(q.value),
            html("span", {title: String(gradient[k])}, digits(gradient[k])), within(errors[k]),
            bar(gradient[k] * scale[k], errors[k] * scale[k], largest)));
        if (!rows.length) return html("p", {}, "The model has no parameters, so there is no gradient.");
        const head = row("th", "p", "value", "gradient", "estimated error", "p times gradient");
        return html("div", {className: "table-wrapper"}, html("table", {className: "docutils"},
            html("thead", {}, head), html("tbody", {}, ...rows)));
    }

    curves(names, {curve}) {
        const largest = names.map((_, k) => curve.reduce((most, y) => Math.max(most, Math.abs(y[k + 1]) || 0), 0) || 1);
        const [scaled, across] = [html("input", {type: "checkbox"}), html("input", {type: "checkbox"})];
        scaled.checked = Math.max(...largest) > FAR_APART * Math.min(...largest);
        across.checked = isLong(curve);
        const place = html("div");
        scaled.onchange = across.onchange = () => {
            const size = scaled.checked ? largest : names.map(() => 1);
            place.replaceChildren(...this.pictures(names, curve, size, across.checked));
        };
        scaled.onchange();
        return [html("p", {className: "choices"},
            html("label", {}, scaled, " each component divided by its largest value"),
            html("label", {}, across, " logarithmic time")), place];
    }

    /* y divided by size, and the lengths of the steps */
    pictures(names, curve, size, logarithmic) {
        const width = Math.max(NARROWEST, Math.min(WIDEST, this.results.clientWidth));
        const lines = names.map((_, k) => curve.map(y => [y[0], y[k + 1] / size[k]]));
        const ends = curve.filter((_, k) => k % PIECES === 0).map(y => y[0]);
        const steps = ends.slice(1).map((t, k) => [t, Math.abs(t - ends[k])]);
        const legend = names.map((name, k) =>
            html("span", {}, sample(k), " " + name + (size[k] === 1 ? "" : ` / ${label(size[k])}`)));
        return [plot("the solution", width, lines, logarithmic, false), html("p", {className: "legend"}, ...legend),
            html("p", {}, "Length of each step, over the time at its end:"),
            plot("lengths of the steps", width, [steps], logarithmic, true)];
    }

    steps({counts}, milliseconds) {
        const {accepted, rejected, f, jacobians, factorisations, newton} = counts;
        return html("p", {}, `${accepted} steps, ${rejected} rejected; ${f} calls of f, ${jacobians} Jacobians, ` +
            `${factorisations} factorisations, ${newton} Newton iterations. Run, gradient and estimated errors: ` +
            `${milliseconds.toFixed(0)} ms.`);
    }
}

/* eight of them; all are shown where the pointer rests */
function digits(x) {
    const size = Math.abs(x);
    return size < 1e-4 && size > 0 || size >= 1e8 ? x.toExponential(7) : String(Number(x.toPrecision(8)));
}

function within(error) { return Number.isFinite(error) ? ` ± ${Math.abs(error).toExponential(1)}` : " ± unknown"; }

/* whether the first step is much shorter than the run, in which case a linear axis hides the start */
function isLong(curve) {
    const last = curve[curve.length - 1][0], step = curve[Math.min(PIECES, curve.length - 1)][0];
    return curve[0][0] === 0 && step > 0 && step < last / LONG;
}

async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), character => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
}

async function start(place) {
    try {
        new Page(place, await Library.load(await unpacked(COSTATE_MODULE)));
    } catch (error) {
        const text = `This browser could not start the module: ${error.message}`;
        place.replaceChildren(html("p", {className: "fault"}, text));
    }
}

if (typeof document !== "undefined") start(document.getElementById("compute"));
