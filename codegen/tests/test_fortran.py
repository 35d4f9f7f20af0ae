"""Fortran modules of models: names without case, lines that are not too long, what is refused.  What programs make of
them is tested by tests/docs/test_blocks.py and, with all shipped models, by tests/models/fortran.py."""
import unittest

from codegen.equations import c_file, read
from codegen.real import Refused


def module(text):
    return c_file.write(read.parse(text, "m.eq"), "m.eq", as_fortran=True)[3]


class Modules(unittest.TestCase):
    def test_only_where_it_is_asked_for(self):
        self.assertEqual(len(c_file.write(read.parse("state x\nx' = 1", "m.eq"), "m.eq")), 3)

    def test_indices_and_counts(self):
        said = module("model m\nparameter k = 2 {1/s} \"how fast\"\nmemory s = 1\nmode off, on\nstate x, v[2..3]\n"
                      "x' = -k*x*s*if(mode == on, 1, 2)\nv[j]' = 1 for j = 2..3\ncost q' = x\noutput o = x")
        for line in ("m_states = 3", "m_x = 1", "m_v_2 = 2", "m_v_3 = 3", "m_parameters = 1", "m_memory = 1",
                     "m_k = 1    ! how fast [1/s]", "m_s = 1", "m_costs = 1", "m_q = 1", "m_outputs = 1", "m_o = 1",
                     "m_off = 0", "m_on = 1"):
            self.assertIn(f"parameter :: {line}\n", said)
        self.assertIn("m_defaults(1) = [real(c_double) :: 2.0_c_double]", said)
        self.assertIn("m_state_names(3) = [character(4) :: 'x', 'v[2]', 'v[3]']", said)

    def test_names_that_differ_in_case(self):
        said = module("model m\nparameter A = 1, a = 2\nstate Start, states\nStart' = A\nstates' = a")
        for line in ("m_start_ = 1", "m_states_ = 2", "m_a = 1", "m_a_ = 2"):
            self.assertIn(f"parameter :: {line}\n", said)
        self.assertIn("bind(c, name='m_start')", said)
        self.assertIn("bind(c, name='Big_problem')", module("model Big\nstate x\nx' = 1"))

    def test_defaults(self):
        said = module("model m\nparameter a = nan, b = 1e-300, c = 0.1\nstate x\nx' = a + b + c")
        self.assertIn("[real(c_double) :: transfer(9221120237041090560_c_int64_t, 1._c_double), ", said)
        self.assertIn("1e-300_c_double, 0.1_c_double]", said)

    def test_texts(self):
        """quotes are doubled, long ones are in pieces, and lines have at most 132 bytes"""
        names = ", ".join(f"parameter_with_a_long_name_{k} = 1 {{{'µ' * 60}'}} \"{'µ' * 90}\"" for k in range(9))
        said = module(f"model m\nparameter {names}\nstate x\nx' = 1")
        self.assertLessEqual(max(len(line.encode()) for line in said.split("\n")), 132)
        self.assertIn("character(121)", said)
        self.assertIn("µ'''", said)

    def test_where_runs_begin(self):
        steady = module("model m\nparameter k = 1\nstate x = 1\nx' = k - x\nstart steady with k = 0")
        for text in ("use costate_steady\n", "function m_start_problem()", "type(costate_steady_options), pointer"):
            self.assertIn(text, steady)
        periodic = module("model m\nstate x = 1\nx' = sin(t) - x\nstart periodic 6.25")
        for text in ("use costate_periodic\n", "m_start_period = 6.25_c_double", "function m_start_periodic()"):
            self.assertIn(text, periodic)
        self.assertNotIn("m_start_problem", periodic)

    def test_refused(self):
        self.assertIn(f"m_{'x' * 61} = 1", module(f"model m\nstate {'x' * 61}\n{'x' * 61}' = 1"))
        for text, wanted in (("size N = 9\ngrid i: N wall\nstate u[i] = i/N\nu' = u[i-1] - u", "not on grids"),
                             (f"model m\nstate {'x' * 62}\n{'x' * 62}' = 1", f"{'x' * 62} has no name in Fortran"),
                             ("model _m\nstate x\nx' = 1", "_m must begin with a letter"),
                             ("model c_ptr\nstate x\nx' = 1", "c_ptr belongs to its module iso_c_binding"),
                             ("model c\nstate Int\nInt' = 1", "Int has no name in Fortran: c_int belongs"),
                             ("model c\nstate x\nmode loc, far\nx' = 1", "c_loc belongs")):
            with self.assertRaises(Refused) as found:
                module(text)
            self.assertIn(wanted, str(found.exception))


if __name__ == "__main__":
    unittest.main()
