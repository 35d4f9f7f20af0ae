"""What tests of the package share: comparing arrays, programs in processes of their own."""
import os
import subprocess
import sys

import numpy as np


def close(a, b, tol=1e-9):
    """arrays of one shape, whose largest gap is at most tol of the largest entry of b"""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    gap = np.max(np.abs(a - b), initial=0) / (np.max(np.abs(b), initial=0) + 1e-300)
    assert gap <= tol, f"gap {gap:.1e} > {tol:.1e}: {a} {b}"


def child(code, **environment):
    """what a program in a process of its own prints"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=dict(os.environ, **environment))
    assert done.returncode == 0, done.stderr
    return done.stdout
