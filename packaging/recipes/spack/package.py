# Not run.  repos/spack_repo/builtin/packages/costate/package.py of spack-packages
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Costate(MesonPackage):
    """Solves ODEs, DAEs, hybrid systems and boundary value problems, and gives exact derivatives of the numerical
    solution: tangents, discrete adjoints and Hessian-vector products."""

    homepage = "@HOME@"
    url = "@URL@"

    license("BSD-3-Clause")

    version("@VERSION@", sha256="@SHA256@")

    variant("klu", default=True, description="sparse linear solver KLU of SuiteSparse (LGPL)")
    variant("superlu", default=False, description="sparse linear solver SuperLU")

    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("lapack")
    depends_on("suite-sparse", when="+klu")
    depends_on("superlu", when="+superlu")

    def meson_args(self):
        def feature(name):
            return f"-D{name}={'enabled' if self.spec.satisfies('+' + name) else 'disabled'}"

        return ["-Dpython=none", "-Dlapack=library", "-Dumfpack=disabled", "-Dpetsc=disabled", feature("klu"),
                feature("superlu")]
