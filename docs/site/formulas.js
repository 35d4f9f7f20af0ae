// formulas.js - LaTeX to HTML by KaTeX: [[formula, display], ...] in, [{html} or {error}, ...] out, as JSON.
"use strict";
const katex = require("katex");
const fs = require("fs");

function typeset([formula, displayMode]) {
    try {
        return {html: katex.renderToString(formula, {displayMode, strict: "error"})};
    } catch (error) {
        return {error: error.message};
    }
}

process.stdout.write(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")).map(typeset)));
