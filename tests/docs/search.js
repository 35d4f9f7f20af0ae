// search.js SITE - the search of a site made by Sphinx, without a browser: reads a JSON list of queries from stdin and
// prints the pages that each finds, the best first, as JSON.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const site = process.argv[2];
const read = name => fs.readFileSync(path.join(site, name), "utf8");
const context = vm.createContext({
    document: {getElementById: () => ({lastChild: null}), readyState: "loading", addEventListener: () => {}},
    window: {}, localStorage: {setItem: () => {}}, SPHINX_HIGHLIGHT_ENABLED: false, found: null, console,
});
vm.runInContext("const DOCUMENTATION_OPTIONS = {}; const _ready = () => {}; const _ = x => x; " +
    "const Documentation = {ngettext: x => x};", context);
vm.runInContext(read("_static/language_data.js"), context);
vm.runInContext(read("_static/searchtools.js").replace("const _displayNextItem = (", "let _displayNextItem = (") +
    "\n_displayNextItem = results => { found = results; };", context);
vm.runInContext(read("searchindex.js"), context);

const pages = JSON.parse(fs.readFileSync(0, "utf8")).map(query => {
    context.query = query;
    vm.runInContext("Search.query(query)", context);
    return [...new Set(context.found.reverse().map(result => result[0]))];       // the page shows the last one first
});
process.stdout.write(JSON.stringify(pages));
