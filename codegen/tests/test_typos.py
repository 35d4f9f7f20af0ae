"""Typing errors, seeded, in numbers, signs, rows, keys of every file: refused, or what the stated digits cannot tell.

Not tried is what makes another valid method of the same properties, as 1 - sqrt(1/2) for 1 + sqrt(1/2) in let.g of ros2
and sdirk2a, two entries of embedded weights of order 1 changed for each other, or another theta."""
import random
import re
import tempfile
import unittest
from pathlib import Path

from codegen import derive, real
from codegen.real import Refused

from . import shipped

A_FILE = 40 if shipped.THOROUGH else 6
NO_NUMBERS = ("name", "title", "family", "source", "checked", "is", "digits", "theta")


def digit(draw, text, place):
    """Another digit for one."""
    at = draw.choice([i for i in range(*place) if text[i].isdigit()])
    return text[:at] + draw.choice([x for x in "0123456789" if x != text[at]]) + text[at + 1:]


def entries(text, place):
    start, end = place
    found = re.finditer(r"(?<![^\s'\"|])[-\w.*/()]*\d[-+\w.*/(),=]*", text[:end])
    return [m for m in found if m.start() >= start]


def sign(draw, text, place):
    found = draw.choice([m for m in entries(text, place) if set(m[0]) != {"0"}])
    return text[:found.start()] + (found[0][1:] if found[0][0] == "-" else "-" + found[0]) + text[found.end():]


def lost(draw, text, place):
    found = draw.choice(entries(text, place))
    return text[:found.start()] + text[found.end():]


def doubled(draw, text, place):
    found = draw.choice(entries(text, place))
    return text[:found.start()] + found[0] + " " + text[found.start():]


def row(draw, text, place):
    """A row left out, or written twice."""
    ends = [m.start() for m in re.finditer(r"\n[^\n]*\d(?=[^\n]*\n)", text[:place[1]]) if m.start() >= place[0]]
    if not ends:
        return lost(draw, text, place)
    at = draw.choice(ends)
    end = text.index("\n", at + 1)
    return text[:at] + text[at:end] * draw.choice((0, 2)) + text[end:]


def key(draw, text, place):
    name = draw.choice(list(re.finditer(r"^(let\.)?(\w+)(?=\s*=)", text, re.M)))
    at = draw.randrange(name.start(2), name.end(2))
    return text[:at] + text[at + 1:]


class Typos(unittest.TestCase):
    def method(self, content, name):
        path = Path(self.directory, name)
        path.write_text(content, encoding="utf-8")
        return derive.method(path)

    def numbers(self, m):
        used = [m.A, m.b, m.c, m.d, m.e, m.e2, m.D, m.C, m.gi, m.g, m.b0, m.est0, m.ex, m.theta]
        return list(flat(used))

    def test_seeded(self):
        with tempfile.TemporaryDirectory() as self.directory:
            for path in shipped.FILES:
                text, draw = path.read_text(encoding="utf-8"), random.Random(path.stem)
                own, tol = self.numbers(shipped.method(path.stem)), shipped.method(path.stem).tol
                blocks = [m.span(2) for m in re.finditer(r"^([\w.]+)\s*=\s*('''.*?'''|[^\n]*)", text, re.M | re.S)
                          if m[1] not in NO_NUMBERS and not m[1].startswith("let") and re.search("[1-9]", m[2])
                          and entries(text, m.span(2))]
                for number in range(A_FILE if path.stat().st_size < 4000 else 5):
                    typo = draw.choice((digit, digit, digit, sign, lost, doubled, row, key))
                    wrong = typo(draw, text, draw.choice(blocks))
                    try:
                        found = self.numbers(self.method(wrong, path.name))
                    except Refused:
                        continue
                    bound = max(real.Decimal("1e-30"), 1000 * tol)
                    close = all(abs(x - y) <= bound * max(1, abs(y)) for x, y in zip(found, own))
                    same = len(found) == len(own) and close
                    self.assertTrue(same, f"{path.name}, {typo.__name__} {number}: accepted\n{difference(text, wrong)}")


def flat(values):
    for x in values:
        if isinstance(x, list):
            yield from flat(x)
        elif x is not None:
            yield x


def difference(text, wrong):
    return "\n".join(f"{x}\n{y}" for x, y in zip(text.split("\n"), wrong.split("\n")) if x != y)[:400]


if __name__ == "__main__":
    unittest.main()
