"""Byte code: its registers, loads and head.  tests/models/programs.py compares programs with compiled models."""
import random
import struct
import unittest
import zlib
from unittest import mock

from ..equations import byte_code, read, routine
from ..equations.body import Target
from ..equations.graph import Graph
from ..equations.operations import NUMBER, OPERANDS
from ..equations.routine import GUARDS, SPACES, Routine
from ..real import Refused

TEXT = """parameter a = 2, b = nan
state x = 1, y[1..40]
x' = a*x
y[k]' = x*y[k] for k = 1..40
event stay at 1
    x := 2
"""
BINARY = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}


def executed(r, variables, guards=tuple(GUARDS)):
    """{index of result: value} of a routine of one column; variables: {(space, index): value}"""
    names = {number: name for name, number in NUMBER.items()}
    registers = list(r.constants)
    for loads in r.loads:
        for space, first, count in loads:
            registers += [variables.get((SPACES[space], first + k), float("nan")) for k in range(count)]
    registers += [None] * (r.registers - len(registers))
    out = {}
    for guard, code, results, _ in [(0, r.code, [], [])] + r.parts:
        if guard not in {GUARDS[g] for g in guards}:
            continue
        while code:
            op, count, *code = code
            width = 1 + OPERANDS[names[op]]
            for k in range(0, count * width, width):
                registers[code[k]] = BINARY[names[op]](*(registers[b] for b in code[k + 1:k + width]))
            code = code[count * width:]
        out.update({(guard, index): registers[register] for index, register in results})
    return out


def random_nodes(draw, g, leaves, count):
    nodes = list(leaves)
    for _ in range(count):
        nodes.append(g.node(draw.choice("+-*"), *(nodes[-draw.randint(1, min(12, len(nodes)))] for _ in range(2))))
    return nodes


def value(g, a, variables, known):
    if a not in known:
        key = g.nodes[a]
        known[a] = key[1] if key[0] == "c" else variables[key[1], key[2]] if key[0] == "v" else \
            BINARY[key[0]](*(value(g, b, variables, known) for b in key[1:]))
    return known[a]


class Routines(unittest.TestCase):
    def test_results_are_those_of_the_nodes(self):
        for seed in range(40):
            draw, g = random.Random(seed), Graph()
            keys = [("y", 0), ("y", 1), ("p", 3), ("w", 0), ("t", 0)]
            leaves = [g.v(*key) for key in keys] + [g.c(0.3), g.c(1.7)]
            variables = {key: draw.uniform(-1, 1) for key in keys}
            nodes = random_nodes(draw, g, leaves, 60)
            chosen = [(f"g{s}[{k}]", f"g{s}", draw.choice(nodes)) for s in "yp" for k in range(3)] + \
                [("*g->t", "g->t", nodes[-1])]
            targets = [Target(lhs, "+=", a, guard) for lhs, guard, a in chosen]
            with mock.patch.object(g, "printable", lambda roots: roots):
                r = Routine(g, targets)
                for guards in (tuple(GUARDS), (None, "gp"), (None, "g->t", "gy")):
                    found = executed(r, variables, guards)
                    wanted = {(GUARDS[guard], int(lhs[3]) if "[" in lhs else 0): value(g, a, variables, {})
                              for lhs, guard, a in chosen if guard in guards}
                    self.assertEqual(found, wanted, seed)

    def test_registers_are_used_again(self):
        g = Graph()
        x = g.v("y")
        for k in range(200):
            x = g.node("+", g.node("*", x, x), g.c(2 + k % 3))
        r = Routine(g, [Target("out[0]", "=", x)])
        self.assertLess(r.registers, 10)
        self.assertEqual(len(r.constants), 3)

    def test_what_columns_share_stays(self):
        g = Graph()
        shared = g.node("*", g.v("y"), g.v("y", 1))
        given = g.v("given")
        a = g.node("*", given, g.v("dy"))
        r = Routine(g, [Target("out[0]", "=", g.node("+", a, g.v("dy", 1)))], {shared: given})
        self.assertEqual([loads for loads in r.loads], [[[SPACES.index("y"), 0, 2]], [[SPACES.index("dy"), 0, 2]]])
        kept = r.code[2]
        (guard, code, results, products), = r.parts
        self.assertNotIn(kept, [code[2], code[7]], "the second column needs it, too")

    def test_values_near_each_other_are_loaded_together(self):
        g = Graph()
        loads = lambda *indices: Routine(g, [Target("out[0]", "=", g.total(g.v("p", k) for k in indices))]).loads[0]
        p = SPACES.index("p")
        self.assertEqual(loads(2, 6), [[p, 2, 5]])
        self.assertEqual(loads(2, 7), [[p, 2, 1], [p, 7, 1]])

    def test_long_runs_are_divided(self):
        g = Graph()
        nodes = [g.node("*", g.v("y", k), g.v("y", k)) for k in range(5)]
        with mock.patch.object(routine, "MOST", 3):
            with self.assertRaises(routine.Fault):
                Routine(g, [Target(f"out[{k}]", "=", a) for k, a in enumerate(nodes)])
        r = Routine(g, [Target(f"out[{k}]", "=", a) for k, a in enumerate(nodes)])
        self.assertEqual(r.parts[0][1][:2], [NUMBER["*"], 5])
        self.assertEqual((routine.MOST, r.registers), (2 ** 16 - 1, 10))


class Programs(unittest.TestCase):
    def test_head(self):
        code = byte_code.write(read.parse(TEXT, "m.eq"), "m.eq")
        magic, version, doubles, words, numbers, crc = struct.unpack("=6I", code[:24])
        self.assertEqual((magic.to_bytes(4, "little"), version), (b"cosb", 1))
        self.assertEqual(len(code), 24 + 8 * doubles + 4 * words + 2 * numbers)
        self.assertEqual(crc, zlib.crc32(code[24:]))
        self.assertEqual(struct.unpack("=9i", code[24 + 8 * doubles:][:36]), (41, 2, 0, 0, 0, 0, 1, 0, 0))
        default, nan = struct.unpack("=2d", code[24 + 8 * (doubles - 2):][:16])
        self.assertTrue(default == 2 and nan != nan)

    def test_an_event_keeps_the_mode(self):
        p = byte_code.Program(read.parse(TEXT, "m.eq"))
        p.words = []
        p.event(p.model.events[0])
        self.assertEqual(p.words[:8], [1, 0, -1, -2, False, False, False, 0])

    def test_what_is_not_served(self):
        m = read.parse(TEXT, "m.eq")
        self.assertIsNone(byte_code.not_served(m))
        m.parameters = m.parameters * 32768
        self.assertIn("more than 65535", byte_code.not_served(m))
        with self.assertRaisesRegex(Refused, "m.eq:2:7: byte code does not serve this model"):
            byte_code.write(m, "m.eq")


if __name__ == "__main__":
    unittest.main()
