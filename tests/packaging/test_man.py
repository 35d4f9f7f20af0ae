"""costate(3) says what the header says, and pages that read it have nothing to complain of."""

import os
import re
import shutil

from external import Skipped, build, declared, needs, read, run, run_all

page = os.path.join(build, "costate.3")


def shown():
    needs("man")
    return run("man", "-l", page, env={"MANWIDTH": "200", "LC_ALL": "C.UTF-8"})


def test_it_names_every_function():
    text = shown()
    lost = [name for name in declared("costate.h") if not re.search(r"\b%s\b" % name, text)]
    assert not lost, "not in costate(3): " + ", ".join(sorted(lost))


def test_it_loses_no_word_of_the_header():
    """all words of the header, but those that are the compiler's, in their order"""
    header = read("include/costate/costate.h")
    header = header.replace("costate.h - ", "costate ", 1)
    header = re.sub(r"#ifdef __cplusplus.*?#endif|#ifndef COSTATE_NO_HANDSHAKE.*?#endif", "",
                    header, flags=re.S)
    header = re.sub(r"/\* -{4,}.*?\*/|^#\w+ (COSTATE_H|<stddef.h>).*$|^#endif", "", header, flags=re.M)
    wanted = re.findall(r"\w+", header)
    found = iter(re.findall(r"\w+", shown()))
    for k, word in enumerate(wanted):
        assert any(word == other for other in found), "costate(3) ends before: " + " ".join(wanted[k:k + 12])


def test_man_has_no_warnings():
    needs("man")
    assert run("man", "-l", "--warnings", page, env={"MANWIDTH": "200", "PAGER": "cat"}) == shown()


def test_mandoc_has_no_warnings():
    if not shutil.which("mandoc"):
        raise Skipped("there is no mandoc")
    lines = run("mandoc", "-Tlint", "-Wwarning", page, fails=True).splitlines()
    words = [line for line in lines if "missing date" not in line]      # the same source makes the same page
    assert not words, "\n".join(words[:5])


run_all(globals())
