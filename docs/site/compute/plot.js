// plot.js - curves over time and bars with errors, as SVG in the colours of the page.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = ["#3b82c4", "#d9713c", "#3f9a5b", "#a865c9", "#c9506f", "#93832f", "#2b9ea8", "#7d7d92"];
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
const FRAME = {height: 300, left: 66, right: 12, top: 12, bottom: 34};
const MOST_POINTS = 3000;                   // of a curve: more than a screen has columns
const NEARLY = 1e-9;                        // of a step of the axis: a tick that round-off puts beyond the end

function element(name, attributes = {}, ...inside) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
}

/* an axis from low to high: where a value is (0 to 1), and its ticks [value, text] */
function axis(low, high, logarithmic) {
    const f = logarithmic ? Math.log10 : x => x, [a, b] = [f(low), f(high)], length = b - a || 1;
    const places = steps(a, b, logarithmic).map(x => [(x - a) / length, logarithmic ? `1e${Math.round(x)}` : label(x)]);
    return {at: x => (f(x) - a) / length, ticks: places.filter(([at]) => at > -NEARLY && at < 1 + NEARLY)};
}

/* about six round numbers between a and b */
function steps(a, b, whole) {
    const rough = (b - a || 1) / 6, ten = 10 ** Math.floor(Math.log10(rough));
    let step = ten * [1, 2, 5, 10].find(k => k * ten >= rough);
    if (whole) step = Math.max(1, Math.round(step));
    const first = Math.ceil(a / step - NEARLY);
    return Array.from({length: Math.floor(b / step + NEARLY) - first + 1}, (_, k) => (first + k) * step);
}

function label(x) {
    const text = String(Number(x.toPrecision(6)));
    return text.length > 7 ? x.toExponential(1).replace(".0e", "e") : text;
}

/* curves: [[[x, y], ...], ...]; across, up: whether the axis is logarithmic */
function plot(title, width, curves, across, up) {
    const seen = curves.map(points => points.filter(([x, y]) => visible(x, across) && visible(y, up)));
    const all = seen.flat(), {height, left, right, top, bottom} = FRAME;
    const svg = element("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", class: "plot"});
    svg.append(element("title", {}, title));
    if (!all.length) return svg;
    const x = axis(...ends(all.map(point => point[0])), across), y = axis(...ends(all.map(point => point[1])), up);
    const X = at => left + at * (width - left - right), Y = at => height - bottom - at * (height - top - bottom);
    for (const [at, text] of x.ticks) {
        svg.append(element("line", {x1: X(at), x2: X(at), y1: top, y2: height - bottom, class: "grid"}),
            element("text", {x: X(at), y: height - bottom + 20, "text-anchor": "middle"}, text));
    }
    for (const [at, text] of y.ticks) {
        svg.append(element("line", {x1: left, x2: width - right, y1: Y(at), y2: Y(at), class: "grid"}),
            element("text", {x: left - 8, y: Y(at) + 4, "text-anchor": "end"}, text));
    }
    seen.forEach((points, k) => {
        const every = Math.ceil(points.length / MOST_POINTS);
        const path = points.filter((_, i) => i % every === 0 || i === points.length - 1)
            .map(point => `${X(x.at(point[0])).toFixed(1)},${Y(y.at(point[1])).toFixed(1)}`).join(" ");
        svg.append(element("polyline", {points: path, ...line(k)}));
    });
    return svg;
}

/* not by Math.min(...x), whose number of arguments is limited */
function ends(x) { return x.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [x[0], x[0]]); }

function visible(x, logarithmic) { return Number.isFinite(x) && (!logarithmic || x > 0); }

function line(k) {
    return {class: "curve", stroke: COLOURS[k % COLOURS.length],
        "stroke-dasharray": DASHES[Math.floor(k / COLOURS.length) % DASHES.length]};
}

/* a short piece of curve k */
function sample(k) {
    const piece = element("line", {x1: 0, x2: 28, y1: 5, y2: 5, ...line(k)});
    return element("svg", {viewBox: "0 0 28 10", class: "sample"}, piece);
}

/* a bar from 0 to value and its error, where the largest of all reaches from the middle to an end */
function bar(value, error, largest) {
    const at = x => 60 + 56 * Math.max(-1, Math.min(1, x / (largest || 1))), [left, right] = ends([60, at(value)]);
    const svg = element("svg", {viewBox: "0 0 120 16", class: "bar"});
    svg.append(element("line", {x1: 60, x2: 60, y1: 0, y2: 16, class: "grid"}),
        element("rect", {x: left, width: right - left, y: 4, height: 8, fill: COLOURS[0]}));
    if (Number.isFinite(error)) {
        const [low, high] = [at(value - Math.abs(error)), at(value + Math.abs(error))];
        svg.append(element("path", {d: `M${low} 3v10M${low} 8H${high}M${high} 3v10`, class: "error"}));
    }
    return svg;
}
