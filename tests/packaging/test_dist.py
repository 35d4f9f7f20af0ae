"""The tarball of `meson dist` holds all files of the commit, and can be configured where there is no repository.

    test_dist.py SOURCE BUILD SANITIZE COMPILER...   reports in the format of cmocka"""
import glob
import os
import shutil
import tarfile

from external import Skipped, build, folder, needs, root, run, run_all, unsanitized


def unpacked(place):
    """the folder that a tarball, made from the commit at hand, unpacks to"""
    needs("git", "meson")
    unsanitized()
    if not os.path.exists(os.path.join(root, ".git")):
        raise Skipped("this is not a git repository")
    run("meson", "dist", "-C", build, "--no-tests", "--allow-dirty", "--formats", "gztar")
    made, = glob.glob(os.path.join(build, "meson-dist", "costate-*.tar.gz"))
    shutil.move(made, place)
    with tarfile.open(os.path.join(place, os.path.basename(made))) as file:
        file.extractall(place)
    source, = (os.path.join(place, name) for name in os.listdir(place) if not name.endswith(".gz"))
    return source


def test_tarball():
    with folder() as place:
        source = unpacked(place)
        found = {os.path.relpath(os.path.join(top, name), source) for top, _, names in os.walk(source)
                 for name in names}
        committed = set(run("git", "-C", root, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
        assert found == committed, "too many or missing: " + " ".join(sorted(found ^ committed)[:9])
        assert os.access(os.path.join(source, "run"), os.X_OK)
        run("meson", "setup", os.path.join(place, "made"), source, env={"GIT_CEILING_DIRECTORIES": place})


run_all(globals())
