"""Whatever a file holds, it is a method or it is refused in a sentence: seeded accidents to the shipped files."""
import random
import re
import tempfile
import unittest
import warnings
from pathlib import Path

from codegen import derive, emit, report
from codegen.real import Refused

from . import shipped

HIGH = 14 if shipped.THOROUGH else 9         # an order whose conditions take long to report
SMALL = [path.read_text(encoding="utf-8") for path in shipped.FILES
         if path.stat().st_size < 1800 and shipped.load(path).keys["order"] < HIGH]
WRONG_VALUES = ('1', '-1', '0', '0.5', 'inf', 'nan', 'true', '[]', '[1]', '[[]]', '{}', '{a = 1}', '""', '"x"', '" "',
                '1979-05-27', '07:32:00', '99999999999999999999', '"1"', '"| |"', '"b | b"', '["fsal", 1]', '"erk"',
                '"ros"', '"firk"', '12', '{x = "1", y = 1}', '"""\n"""', '"1 1 1"', '"\\u0000"')
PIECES = ('1e9999', '1e-9999', '0.5e99999999', '9' * 60, '9' * 5000, '(' * 150, ')' * 150, '-' * 150, '-' * 2000,
          '[' * 3000, '+' * 500 + '1', '1+' * 499 + '1', '1' + '**1' * 300, '1/0', '0/0', 'sqrt(-1)', 'sqrt(*1)',
          'root(1,1,near=1)', 'root(0,0,near=0)', 'root(1,**x)', '10**100', '2**-100', '0**0', '0**-1', '1_0', '0o7',
          '1j', '(1if 1else 1)', 'lambda:1', "f'{1}'", '(x:=1)', 'x[1]', '~1', '1<2', '\0', '\t', '\r', '\n', '\x0b',
          '\x85', '\u2028', '\ufeff', '\u0661', '\ud800', '|', '||', "'''", '"', '\\', '#', '=', '[', ']]',
          'let.y = "y"', 'let.r = "1"', 'is', 'nan', 'inf', '1e5', '1e99', '1e-99', '\n1 | 1\n', '\nb | 1\n',
          '\ndigits = 1\n', '\norder = 12\n', '\nembedded = 1\n', '\ndense = 3\n', '\ncollocation = true\n',
          '\nis = ["dae"]\n')


def characters(draw, text):
    """A few characters deleted, doubled, turned round or replaced."""
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text))
        to = at + draw.choice((1, 1, 1, 2, 20, 200))
        text = text[:at] + draw.choice(("", text[at:to] * 2, text[at:to][::-1], chr(draw.randrange(128)))) + text[to:]
    return text


def pieces(draw, text):
    """Something put in."""
    at = draw.choice([m.start() for m in re.finditer(r"[\s=|]", text)])
    return text[:at] + draw.choice(("", " ")) + draw.choice(PIECES) + draw.choice(("", " ")) + text[at:]


def entry(draw, text):
    """A number or word replaced."""
    found = draw.choice(list(re.finditer(r"[-+*/().\w]+", text)))
    return text[:found.start()] + draw.choice(PIECES) + text[found.end():]


def value(draw, text):
    """A value of another kind."""
    key = draw.choice(list(re.finditer(r"^([\w.]+)\s*=\s*('''.*?'''|[^\n]*)", text, re.M | re.S)))
    return text[:key.start(2)] + draw.choice(WRONG_VALUES) + text[key.end(2):]


def lines(draw, text):
    """A line deleted, doubled or moved."""
    rows = text.split("\n")
    row = rows.pop(draw.randrange(len(rows)))
    for _ in range(draw.randrange(3)):
        rows.insert(draw.randrange(len(rows)), row)
    return "\n".join(rows)


def octets(draw, text):
    """What is no text."""
    text = bytearray(text.encode())
    for _ in range(draw.randint(1, 3)):
        text[draw.randrange(len(text))] = draw.randrange(256)
    return bytes(text)


class Fuzz(unittest.TestCase):
    def outcome(self, text, number):
        """A file of that text: refused in a sentence, or accepted and of use."""
        content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        name = re.search(rb'^name\s*=\s*"(\w{1,40})"', content, re.M)
        path = Path(self.directory, (name[1].decode() if name else "trial") + ".toml")
        path.write_bytes(content)
        try:
            method = derive.method(path)
            code = emit.source([method.table.name], [emit.descriptor(method)])
            report.report(method)
        except Refused as fault:
            self.assertTrue(str(fault).startswith(f"{path}: "), fault)
            self.assertLess(len(str(fault)), 600 + len(str(path)))
            return "refused"
        except Exception as fault:
            raise AssertionError(f"accident {number}: {fault!r} at\n{content.decode(errors='replace')}") from fault
        self.assertNotRegex(code.split(".family")[1], r"\b(inf|nan)\b")
        return "accepted"

    @unittest.skipIf(shipped.NAMED and not SMALL, "none of the methods that are named has a small file")
    def test_accidents(self):
        count = {"refused": 0, "accepted": 0}
        with tempfile.TemporaryDirectory() as self.directory, warnings.catch_warnings():
            warnings.simplefilter("error")               # what would be printed while building
            for number in range(0, 2000, 1 if shipped.THOROUGH else 7):
                draw = random.Random(number)
                accident = draw.choice((characters, pieces, entry, value, lines, octets))
                count[self.outcome(accident(draw, draw.choice(SMALL)), number)] += 1
        tried = sum(count.values())
        self.assertGreater(count["refused"], tried / 2)
        self.assertGreater(count["accepted"], tried / 40)


if __name__ == "__main__":
    unittest.main()
