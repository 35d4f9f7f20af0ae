// formulas.js - LaTeX to HTML by KaTeX, a line of JSON for each page: [[formula, display], ...] in, [{html} or {error},
// ...] out.
"use strict";
const katex = require("katex");
const readline = require("readline");

function typeset([formula, displayMode]) {
    try {
        return {html: katex.renderToString(formula, {displayMode, strict: "error"})};
    } catch (error) {
        return {error: error.message};
    }
}

readline.createInterface({input: process.stdin})
    .on("line", page => process.stdout.write(JSON.stringify(JSON.parse(page).map(typeset)) + "\n"));
