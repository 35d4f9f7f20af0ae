"""Units as texts: products of powers of words, with what they are in the units of the SI.

    mg/L   1/h   mg L^-1 h^-1   umol/(g min)   cm3   10 mmol   %

`/` divides by the next factor, or by what stands in parentheses.  Words that are no unit of the SI, nor one of those
below, are units of their own: cells/mL.  Kilograms and grams differ, as 1000 does from 1."""
import math
import re
from dataclasses import dataclass
from fractions import Fraction

SAME = 1e-9                                  # relative: factors that differ by less are equal
PREFIXES = {"y": -24, "z": -21, "a": -18, "f": -15, "p": -12, "n": -9, "u": -6, "µ": -6, "μ": -6, "m": -3, "c": -2,
            "d": -1, "da": 1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
# (factor, exponents of kg m s mol K A cd); BIPM, The International System of Units, 9th edition, tables 2 to 8
WITH_PREFIX = {
    "g": (1e-3, "kg"), "m": (1, "m"), "s": (1, "s"), "mol": (1, "mol"), "K": (1, "K"), "A": (1, "A"), "cd": (1, "cd"),
    "L": (1e-3, "m m m"), "l": (1e-3, "m m m"), "M": (1e3, "mol /m /m /m"), "Hz": (1, "/s"), "N": (1, "kg m /s /s"),
    "J": (1, "kg m m /s /s"), "W": (1, "kg m m /s /s /s"), "Pa": (1, "kg /m /s /s"), "bar": (1e5, "kg /m /s /s"),
    "C": (1, "A s"), "V": (1, "kg m m /s /s /s /A"), "F": (1, "A A s s s s /kg /m /m"),
    "Ohm": (1, "kg m m /s /s /s /A /A"), "S": (1, "A A s s s /kg /m /m"), "T": (1, "kg /s /s /A"),
    "Wb": (1, "kg m m /s /s /A"), "lm": (1, "cd"), "lx": (1, "cd /m /m"), "Bq": (1, "/s"), "Gy": (1, "m m /s /s"),
    "Sv": (1, "m m /s /s"), "kat": (1, "mol /s"), "eV": (1.602176634e-19, "kg m m /s /s"),
    "cal": (4.184, "kg m m /s /s"), "Da": (1.66053906660e-27, "kg")}
OTHERS = {"min": (60, "s"), "h": (3600, "s"), "hr": (3600, "s"), "hour": (3600, "s"), "d": (86400, "s"),
          "day": (86400, "s"), "week": (604800, "s"), "yr": (31557600, "s"), "year": (31557600, "s"),
          "atm": (101325, "kg /m /s /s"), "rad": (1, ""), "deg": (math.pi/180, ""), "%": (0.01, ""),
          "ppm": (1e-6, ""), "ppb": (1e-9, "")}
NUMBER = r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
TOKEN = re.compile(rf"\s*(?:(?P<word>[^\W\d]\w*|%)(?P<power>(?:\^|\*\*)(?:[-+]?\d+(?:\.\d+)?|\(\d+/\d+\))|[-+]\d+)?"
                   rf"|(?P<number>{NUMBER})|(?P<symbol>[*·/()]))\s*")
DIGITS = re.compile(r"([^\W\d]+)(\d+)")      # cm3, but not H2O


class NoUnit(Exception):
    """A text that is no unit"""


@dataclass(frozen=True)
class Unit:
    factor: float                            # of the units of the SI and of words
    powers: tuple                            # ((word, exponent), ...), sorted: of these
    words: tuple                             # the same as it was written

    def __mul__(self, other):
        return Unit(self.factor*other.factor, joined(self.powers, other.powers), joined(self.words, other.words))

    def __pow__(self, exponent):
        times = lambda powers: tuple((word, n*exponent) for word, n in powers if exponent)      # noqa: E731
        return Unit(self.factor**float(exponent), times(self.powers), times(self.words))

    def __truediv__(self, other):
        return self*other**Fraction(-1)

    def same(self, other):
        return self.powers == other.powers and abs(self.factor - other.factor) <= SAME*self.factor

    def __str__(self):
        over = [power_text(word, n) for word, n in self.words if n > 0]
        under = [power_text(word, -n) for word, n in self.words if n < 0]
        return "/".join([" ".join(over) or "1", *under])


ONE = Unit(1.0, (), ())


def joined(powers, more):
    out = dict(powers)
    for word, n in more:
        out[word] = out.get(word, 0) + n
    return tuple(sorted((word, n) for word, n in out.items() if n))


def power_text(word, n):
    return word if n == 1 else f"{word}^{n}" if n.denominator == 1 else f"{word}^({n})"


def unit(text):
    """The Unit of a text; NoUnit with a sentence"""
    if text.strip() in ("1", "-"):
        return ONE
    tokens, at = [], 0
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise NoUnit(f"{{{text}}} is not a unit: write products of powers, as mg/L, 1/h, or umol/(g min)")
        tokens.append(m)
        at = m.end()
    out, rest = product(tokens, text)
    if rest:
        raise NoUnit(f"{{{text}}} has a parenthesis too many")
    return out


def product(tokens, text):
    """(Unit, tokens behind it)"""
    out, divides, expected = ONE, False, True
    while tokens and tokens[0]["symbol"] != ")":
        m, tokens = tokens[0], tokens[1:]
        if m["symbol"] in ("*", "·", "/"):
            if expected:
                raise NoUnit(f"{{{text}}}: a factor is missing before {m['symbol']}")
            divides, expected = m["symbol"] == "/", True
            continue
        if m["symbol"] == "(":
            factor, tokens = product(tokens, text)
            if not tokens:
                raise NoUnit(f"{{{text}}} has a parenthesis that is not closed")
            tokens = tokens[1:]
        elif m["number"]:
            if float(m["number"]) == 0:
                raise NoUnit(f"{{{text}}} has the factor 0, which is no unit")
            factor = Unit(float(m["number"]), (), ((m["number"], Fraction(1)),) if float(m["number"]) != 1 else ())
        else:
            short = DIGITS.fullmatch(m["word"]) if not m["power"] else None
            word, power = short.groups() if short else (m["word"], (m["power"] or "1").strip("^*()"))
            factor = raised(named(word), power, text)
        out = out/factor if divides else out*factor
        divides = expected = False
    if expected:
        raise NoUnit(f"{{{text}}}: a factor is missing at the end")
    return out, tokens


def raised(factor, power, text):
    try:
        out = factor**Fraction(power)
    except (OverflowError, ZeroDivisionError):
        out = None
    if out is None or not 0 < out.factor < math.inf:
        raise NoUnit(f"{{{text}}} has the power {power}, which is out of range")
    return out


def named(word):
    factor, powers = 1.0, word
    known = OTHERS.get(word) or WITH_PREFIX.get(word)
    if known:
        factor, powers = known
    else:
        for prefix, exponent in PREFIXES.items():
            if word.startswith(prefix) and word[len(prefix):] in WITH_PREFIX:
                factor, powers = WITH_PREFIX[word[len(prefix):]]
                factor *= float(f"1e{exponent}")
    out = ()
    for base in powers.split():
        out = joined(out, ((base.removeprefix("/"), Fraction(-1 if base.startswith("/") else 1)),))
    return Unit(float(factor), out, ((word, Fraction(1)),))
