"""Formulas in texts, LaTeX between $ and $ or on lines of their own between $$ and $$, typeset by KaTeX.

Markdown would take underscores, asterisks and backslashes in them for its own, so they are taken out before a text is
converted, and words stand in their place.  Without KaTeX (Debian's package katex) a page shows them as they are
written."""
import html
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

DEBIAN = Path("/usr/share/nodejs")               # where its packages for Node.js are, whichever node is on PATH
STYLES = ("katex/dist/katex.min.css", "katex/dist/fonts")
PART = re.compile(r"(?P<code>^```.*?^```|`[^`\n]*`|^ {4}.*?$)"
                  r"|^ *\$\$\n(?P<display>.*?)\n *\$\$$"
                  r"|\$(?P<inline>[^\s$](?:[^$\n]*[^\s$])?)\$", re.S | re.M)
TAG = re.compile(r"\s*\\tag\{([^}]*)\}")
NUMBER = re.compile(r"\((\d+\.\d+)\)")


@dataclass(frozen=True)
class Formula:
    latex: str
    tag: str                         # its number, or None
    display: bool                    # on lines of its own


def taken_out(text):
    """The text with words for its formulas; the formulas."""
    formulas = []

    def word(found):
        if found["code"]:
            return found.group()
        latex = found["display"] or found["inline"]
        tag = TAG.search(latex)
        formulas.append(Formula(TAG.sub("", latex), tag and tag.group(1), found["display"] is not None))
        return placeholder(len(formulas) - 1, found.group())

    return PART.sub(word, text), formulas


def placeholder(k, formula=""):
    return " " * (len(formula) - len(formula.lstrip(" "))) + f"FORMULA{k:04d}X"


def put_back(body, formulas):
    """HTML with formulas in place of the words, and numbers in parentheses that lead to the formulas of that number."""
    if not formulas:
        return body
    shown = typeset(formulas)
    tags = {x.tag for x in formulas if x.tag}
    body = NUMBER.sub(lambda m: f'<a href="#eq-{m[1]}">{m[0]}</a>' if m[1] in tags else m[0], body)
    for k, (formula, text) in enumerate(zip(formulas, shown)):
        if formula.display:
            anchor = f' id="eq-{formula.tag}"' if formula.tag else ""
            number = f'<span class="number">({formula.tag})</span>' if formula.tag else ""
            word, text = f"<p>{placeholder(k)}</p>", f'<div class="equation"{anchor}><div>{text}</div>{number}</div>'
        else:
            word = placeholder(k)
        body = body.replace(word, text)
    return body


def typeset(formulas):
    """HTML of each."""
    node = engine()
    if not node:
        return [f'<code class="formula">{html.escape(x.latex)}</code>' for x in formulas]
    done = run(node, formulas)
    wrong = [f"{x.latex}: {y['error']}" for x, y in zip(formulas, done) if "error" in y]
    if wrong:
        raise SystemExit("formulas that KaTeX does not take:\n" + "\n".join(wrong))
    return [x["html"] for x in done]


def engine():
    """The command that runs formulas.js; None: there is no KaTeX."""
    node = shutil.which("node") or shutil.which("nodejs")
    return node if node and (DEBIAN / "katex").is_dir() else None


def run(node, formulas):
    made = subprocess.run([node, Path(__file__).with_name("formulas.js")], check=True, capture_output=True, text=True,
                          input=json.dumps([[x.latex, x.display] for x in formulas]), encoding="utf-8",
                          env=dict(os.environ, NODE_PATH=str(DEBIAN)))
    return json.loads(made.stdout)


def styles():
    """Files and directories that pages with formulas need beside them, by name."""
    return {"katex.css": DEBIAN / STYLES[0], "fonts": DEBIAN / STYLES[1]} if engine() else {}
