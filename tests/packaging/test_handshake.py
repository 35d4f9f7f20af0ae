"""A program that was compiled with another header, where a struct has a field more, is refused with a sentence."""

import ctypes
import os
import re

from external import Skipped, build, cc, folder, library, read, root, run, run_all, sanitized, write

PROGRAM = r"""
#include <costate/costate.h>
#include <stdio.h>
static int f(const costate_point *x, double *out, void *ctx) { return (void)ctx, out[0] = -x->y[0], 0; }
int main(void)
{
    double y = 1;
    costate_problem problem = {.n = 1, .rhs = {.value = f}};
    costate_options options = {.rtol = 1e-6};
    costate_report report = {.text = "untouched"};
    costate_point at = {.t = 0, .y = &y};
    costate_method_info info = {.name = "untouched"};
    costate *c = costate_new(costate_method_find("dopri5"), &problem, &options);
    printf("new: %s: %s\n", costate_status_name(costate_status(c)), costate_message(c));
    printf("integrate: %s\n", costate_status_name(costate_integrate(c, 0, 1, &y, NULL, NULL)));
    int map = costate_check_map(&problem.rhs, 1, 0, 1, &at, NULL, &report);
    printf("map: %s: %s\n", costate_status_name(map), report.text);
    printf("problem: %s\n", costate_status_name(costate_check_problem(&problem, &at, &report, NULL)));
    costate_pattern *pattern = NULL;
    printf("pattern: %s\n", costate_status_name(costate_pattern_detect(&problem, &at, &pattern, &report)));
    costate_pattern_free(pattern);
    printf("run: %s\n", costate_status_name(costate_check_adjoint(c, 0, 1, &y, NULL, &report)));
    printf("describe: %s\n", costate_status_name(costate_method_describe(costate_method_find("dopri5"), &info)));
    costate_free(c);
    return 0;
}
"""
CALLS = ("new", "integrate", "map", "problem", "pattern", "run", "describe")


def said(header):
    """what the program prints, by call, when compiled with this text as header and run with the library"""
    with folder() as place:
        write(os.path.join(place, "costate", "costate.h"), header)
        exe = os.path.join(place, "program")
        cc(write(os.path.join(place, "program.c"), PROGRAM), "-o", exe, "-I" + place, "-L" + build,
           "-Wl,-rpath," + build, "-lcostate")
        return dict(line.split(": ", 1) for line in run(exe).splitlines())


def longer(struct):
    """the header, of a later version, with a field more at the end of this struct"""
    header = read("include/costate/costate.h")
    version = re.search(r'#define COSTATE_VERSION "([^"]*)"', header).group(1)
    header = header.replace('COSTATE_VERSION "' + version, 'COSTATE_VERSION "77.7', 1)
    changed, count = re.subn(r"\n\} %s;" % struct, "\n    double more[2];\n} %s;" % struct, header)
    assert count == 1, struct
    return changed


def test_the_same_header_is_taken():
    answers = said(read("include/costate/costate.h"))
    assert answers["new"] == "COSTATE_OK: No error." and answers["integrate"] == "COSTATE_OK", answers
    assert answers["describe"] == "COSTATE_OK", answers


def refused(struct):
    answers = said(longer(struct))
    wrong = {call: answers[call] for call in CALLS if not answers[call].startswith("COSTATE_VERSION_MISMATCH")}
    assert not wrong, wrong
    for words in (struct, "77.7", "compile"):
        assert words in answers["new"], answers["new"]


def earlier(header, struct, version=None):
    """the header, without the last two fields of this struct, and perhaps of another version"""
    start, fields, end = re.search(r"(.*typedef struct \{\n)(.*?)(\n\} %s;.*)" % struct, header, re.S).groups()
    kept = re.split(r"(?<=;)", re.sub(r"/\*.*?\*/", "", fields, flags=re.S))
    header = start + "".join(kept[:-3]) + end
    return header if version is None else re.sub(r'(#define COSTATE_VERSION )"[^"]*"', r'\1"%s"' % version, header)


def test_earlier_options_are_taken():
    """what they lack is 0; but not those of another first number"""
    header = read("include/costate/costate.h")
    answers = said(earlier(header, "costate_options"))
    assert answers["new"] == "COSTATE_OK: No error." and answers["integrate"] == "COSTATE_OK", answers
    answers = said(earlier(header, "costate_options", "1.0.0"))
    assert answers["new"].startswith("COSTATE_VERSION_MISMATCH") and "1.0.0" in answers["new"], answers
    answers = said(earlier(header, "costate_report"))
    assert answers["new"].startswith("COSTATE_VERSION_MISMATCH"), answers


def test_options_do_not_end_in_padding():
    """where a field more would not be seen"""
    size = '#include <costate/costate.h>\n#include <costate/bvp.h>\n#include <stdio.h>\n' \
           'int main(void) { printf("%zu %zu\\n", sizeof(costate_options), sizeof(costate_bvp_options)); return 0; }\n'
    with folder() as place:
        sizes = []
        for more in "", "\n    char more;":
            for name, struct in ("costate", "costate_options"), ("bvp", "costate_bvp_options"):
                write(os.path.join(place, "costate", name + ".h"),
                      read("include/costate/%s.h" % name).replace("\n} %s;" % struct, more + "\n} %s;" % struct))
            exe = os.path.join(place, "size")
            cc(write(os.path.join(place, "size.c"), size), "-o", exe, "-I" + place)
            sizes.append([int(x) for x in run(exe).split()])
        assert all(a < b for a, b in zip(*sizes)), sizes


# Those that a program makes and the library reads or fills.
def test_longer_problem_is_refused(): refused("costate_problem")
def test_longer_map_is_refused(): refused("costate_map")
def test_longer_options_are_refused(): refused("costate_options")
def test_longer_report_is_refused(): refused("costate_report")
def test_longer_times_are_refused(): refused("costate_times")
def test_longer_observations_are_refused(): refused("costate_observations")
def test_longer_point_is_refused(): refused("costate_point")
def test_longer_info_is_refused(): refused("costate_method_info")


def test_every_public_struct_takes_part():
    """also one that is added later, unless it is only ever seen through a pointer of the library's"""
    header = re.sub(r"/\*.*?\*/", "", read("include/costate/costate.h"), flags=re.S)
    structs = set(re.findall(r"^\} (costate_\w+);", header, re.M)) - {"costate_size"}
    table = set(re.findall(r'\{"(costate_\w+)", sizeof\(\1\)\}', header))
    assert structs == table, "not in costate_sizes: %s" % sorted(structs ^ table)


def test_structs_of_other_headers_take_part():
    """in tables of their own, beside those of costate.h that they hold"""
    for name in ("bvp", "ensemble", "operators", "pieces"):
        header = re.sub(r"/\*.*?\*/", "", read("include/costate/%s.h" % name), flags=re.S)
        structs = set(re.findall(r"^\} (costate_\w+);", header, re.M))
        table = set(re.findall(r'\{"(costate_\w+)", sizeof\(\1\)\}', header))
        assert structs <= table, "not in costate_%s_sizes: %s" % (name, sorted(structs - table))


def test_other_languages_ask():
    """costate_version and costate_sizeof at run time; costate_new is a function, too"""
    if sanitized:
        raise Skipped("Python cannot load a library with a sanitizer in it")
    with folder() as place:
        exe = os.path.join(place, "size")
        cc(write(os.path.join(place, "size.c"), '#include <costate/costate.h>\n#include <stdio.h>\n'
                 'int main(void) { printf("%s %zu\\n", COSTATE_VERSION, sizeof(costate_options)); return 0; }\n'),
           "-o", exe, "-I" + os.path.join(root, "include"))
        version, size = run(exe).split()
    c = ctypes.CDLL(library())
    c.costate_version.restype = ctypes.c_char_p
    c.costate_sizeof.restype = ctypes.c_size_t
    c.costate_new.restype = c.costate_message.restype = ctypes.c_void_p
    assert c.costate_version().decode() == version, c.costate_version()
    assert c.costate_sizeof(b"costate_options") == int(size)
    assert c.costate_sizeof(b"costate_nonsense") == 0 and c.costate_sizeof(None) == 0
    solver = ctypes.c_void_p(c.costate_new(None, None, None))
    assert b"problem is NULL" in ctypes.string_at(c.costate_message(solver))
    c.costate_free(solver)


run_all(globals())
