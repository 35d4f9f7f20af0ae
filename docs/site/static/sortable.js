// sortable.js - a click on the head of a column sorts the rows of a table of class sortable, numbers as numbers.
"use strict";

function value(row, k) {
    const text = row.cells[k].textContent.trim();
    const number = parseFloat(text);
    return Number.isNaN(number) ? text.toLowerCase() : number;
}

function compare(a, b) {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
}

function sort(table, head, k) {
    const down = head.getAttribute("aria-sort") === "ascending";
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).sort((a, b) => compare(value(a, k), value(b, k)) * (down ? -1 : 1));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
}

document.addEventListener("DOMContentLoaded", () => {
    for (const table of document.querySelectorAll("table.sortable")) {
        Array.from(table.tHead.rows[0].cells).forEach((head, k) => {
            head.tabIndex = 0;
            head.addEventListener("click", () => sort(table, head, k));
            head.addEventListener("keydown", event => { if (event.key === "Enter") sort(table, head, k); });
        });
    }
});
