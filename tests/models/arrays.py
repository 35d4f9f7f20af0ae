"""arrays.py SOURCE BUILD SANITIZE COMPILER...: models with products of matrices and vectors, as loops and with every
term written out: all their products agree to round-off.  Reports in the format of cmocka."""
import sys
import tempfile

sys.dont_write_bytecode = True

from compiled import need_library  # noqa: E402  (first: it sets the path)
from agree import agree  # noqa: E402

from cases import run_all  # noqa: E402
from codegen.equations import arrays, c_file  # noqa: E402
from drafts import Draft, branches, made, network, of_states, sparse, sums, transposed  # noqa: E402


def version(make, n, name, least):
    small, sparse_ = arrays.SMALL, arrays.SPARSE
    arrays.SMALL, arrays.SPARSE = (small, sparse_) if least is None else least
    try:
        d = Draft(name, n)
        return c_file.write(d.done(make(d)), "net.eq")
    finally:
        arrays.SMALL, arrays.SPARSE = small, sparse_


def both(make, n, loops=True):
    need_library()
    first, second = version(make, n, "first", None), version(make, n, "second", (10**9, 4))
    assert ("matrix_times(" in first[0]) == loops and "matrix_times(" not in second[0]
    with tempfile.TemporaryDirectory(prefix="costate-") as place:
        agree(place, first, second)
    return first[0]


def test_a_network():
    text = both(network, 5)
    assert "add_outer(" in text and "static const double" in text


def test_one_block_in_several_orders():
    both(transposed, 5)


def test_matrices_of_states():
    both(of_states, 25)


def test_matrices_of_expressions():
    both(made, 4)


def test_matrices_of_sums():
    """an entry that is the sum of two parameters gives its weight to both"""
    both(sums, 5)


def test_in_branches():
    both(branches, 4)


def test_what_is_mostly_zero_is_written_out():
    both(sparse, 5, loops=False)


def test_a_layer_of_64_is_short():
    """its products have some lines for each row, not for each of 4096 weights"""
    text = version(lambda d: d.layer(64, d.y), 64, "first", None)[0]
    functions = text[text.index("right-hand side"):text.index("initial values")]
    assert functions.count("\n") < 8*64*12, functions.count("\n")


def test_a_sparse_jacobian_is_written():
    """two networks that do not know each other: fewer than half of the entries"""
    def apart(d):
        return d.layer(4, d.y[:4]) + d.layer(4, d.y[4:8]) + d.layer(4, d.y[8:])
    assert ".jac = jac" in both(apart, 12) and ".jac = " not in version(lambda d: d.layer(5, d.y), 5, "first", None)[0]


run_all(globals())
