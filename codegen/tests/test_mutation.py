"""Every entry of every file matters: changed by 1e-8, or by what its digits can tell, it is refused."""
import subprocess
import unittest

from codegen.real import Refused

from . import shipped


STEPS = ((10, 1), (100, 5), (200, 10), (10 ** 6, 25))        # up to so many entries: every first, fifth, ...


class Mutation(unittest.TestCase):
    def test_every_entry(self):
        """Of each file, unless all are asked for, every fifth, or of many every tenth or 25th, beginning at another
        one."""
        for number, path in enumerate(shipped.FILES):
            document, count = shipped.load(path), 0
            shipped.method(path.stem)                            # itself accepted
            mutants = list(shipped.mutants(document))
            self.assertGreater(len(mutants), 2, path)
            step = 1 if shipped.THOROUGH else next(k for most, k in STEPS if len(mutants) <= most)
            for what, mutant in mutants[number % step::step]:
                with self.subTest(file=path.name, changed=what):
                    with self.assertRaises(Refused) as caught:
                        shipped.derive_document(mutant())
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
        in_git = {shipped.ROOT / name for name in listed.split()}
        for path in [f for f in shipped.CHOSEN if f.parent.name != "composite" and f in in_git]:
            self.assertIn("checked", shipped.load(path).keys, path.name)


if __name__ == "__main__":
    unittest.main()
