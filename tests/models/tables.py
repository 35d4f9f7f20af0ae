"""tables.py SOURCE BUILD SANITIZE COMPILER...: a mechanism of 360 reactions, in tables and as straight-line code: both
pass costate_check_problem, and all their products agree to round-off.  Reports in the format of cmocka."""
import random
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import need_library  # noqa: E402  (first: it sets the path)
from agree import agree  # noqa: E402

from cases import run_all  # noqa: E402
from codegen.equations import c_file, read, tables  # noqa: E402

def mechanism():
    draw = random.Random(7)
    lines = ["parameter T = 290, E = 2", "state " + ", ".join(f"S{i} = 1" for i in range(20))]
    for r in range(360):
        left = [draw.randrange(20) for _ in range(draw.choice((0, 1, 1, 2, 2, 2, 3)))]
        right = [draw.choice(("", "2 ", "0.5 ")) + f"S{draw.randrange(20)}" for _ in range(draw.choice((1, 2, 3)))]
        k = round(draw.uniform(0.1, 1), 3)
        rate = draw.choice((f"k{r} = {k}", f"{k}*exp(-E*{r % 7 + 1}/T)*(1 + 0.1*sin(t))", str(k)))
        lines.append(f"{' + '.join(f'S{i}' for i in left) or '0'} -> {' + '.join(right)} : {rate}")
    # sums of states, of which one occurs twice, in rates
    lines += ["let RO2 = S3 + 0.5*S4 - S5/3 + 2*(S6 + 0.1)", "S2 -> S7 : 0.3*RO2*E", "S8 + S9 -> 2 S1 : 0.01*T*RO2^2",
              "S3 -> S10 : 0.2*S11", "0 -> S12 : -(S13 + S14)*exp(-E)"]
    # what tables do not hold: a rate that depends on states, a fractional order, an equation beside reactions
    lines += ["S0 + S1 -> S2 : 0.3*S3/(1 + S3)", "0.5 S4 -> S5 : 0.2", "S1' = 0.01*sin(t) - 0.1*S1*S6*E"]
    return "\n".join(lines)


def test_tables_and_straight_line_code_agree():
    need_library()
    many, written = tables.MANY, []
    for name, limit in (("first", many), ("second", 10**9)):
        model = read.parse(mechanism(), "m.eq")
        model.name, tables.MANY = name, limit
        try:
            written.append(c_file.write(model, "m.eq"))
        finally:
            tables.MANY = many
        assert ("net_start" in written[-1][0]) == (name == "first")
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        agree(place, *written)


run_all(globals())
