"""Every entry of every file matters: changed by 1e-8, or by what its digits can tell, it is refused."""
import subprocess
import unittest

from codegen.real import Refused

from . import shipped


class Mutation(unittest.TestCase):
    def test_every_entry(self):
        """Of each file, unless all are asked for, every fifth, beginning at another one."""
        for number, path in enumerate(shipped.FILES):
            document, count = shipped.load(path), 0
            shipped.derive_document(document)                    # itself accepted
            mutants = list(shipped.mutants(document))
            self.assertGreater(len(mutants), 2, path)
            few = not shipped.THOROUGH and len(mutants) > 10
            for what, mutant in mutants[number % 5::5] if few else mutants:
                with self.subTest(file=path.name, changed=what):
                    with self.assertRaises(Refused) as caught:
                        shipped.derive_document(mutant)
                    self.assertTrue(str(caught.exception).startswith(str(path)))
                count += 1
            self.assertGreater(count, 1, path)

    def test_second_source(self):
        """Those that are shipped (in git) were compared with one; composite methods have no coefficients."""
        try:
            listed = subprocess.run(["git", "ls-files", "methods"], cwd=shipped.ROOT, capture_output=True,
                                    text=True).stdout
        except OSError:
            listed = ""
        for path in [f for f in shipped.ALL if f.parent.name != "composite"]:
            if str(path.relative_to(shipped.ROOT)) in listed.split():
                self.assertIn("checked", shipped.load(path).keys, path.name)


if __name__ == "__main__":
    unittest.main()
