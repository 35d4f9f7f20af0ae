// compute.js DIR - the page that computes, without a browser: reads a JSON list of tasks from stdin, {text, settings}
// and perhaps bytes of a program in base64, and writes what the scripts in DIR find, as JSON; numbers have all digits.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const read = name => fs.readFileSync(path.join(process.argv[2], name), "utf8");
const context = vm.createContext({WebAssembly, TextEncoder, TextDecoder, Blob, Response, DecompressionStream, atob});
const costate = vm.runInContext(`${read("module.js")}${read("compute.js")}; ({...costate, COSTATE_MODULE})`, context);

function found(library, {text, settings, bytes}) {
    let model, program;
    try {
        model = new costate.Model(text);
        program = new costate.Program(model).bytes();
    } catch (fault) {
        if (!(fault instanceof costate.Fault)) throw fault;
        return {fault: fault.sentence(text)};
    }
    const names = [...model.states, ...model.costs].map(q => q.name);
    const given = {p: model.parameters.map(q => q.value), ...settings, component: names.indexOf(settings.component)};
    const result = library.run(bytes ? Buffer.from(bytes, "base64") : program, names.length, given);
    return {...result, p: given.p, component: given.component, program: Buffer.from(program).toString("base64")};
}

async function main() {
    const library = await costate.Library.load(await costate.unpacked(costate.COSTATE_MODULE));
    const tasks = JSON.parse(fs.readFileSync(0, "utf8"));
    const answers = {methods: library.methods(), table: costate.TABLE, tasks: tasks.map(task => found(library, task))};
    process.stdout.write(JSON.stringify(answers));
}

main();
