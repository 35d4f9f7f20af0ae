/* test_loaded.c - files that are no whole shared library are refused with a sentence by costate_method_load, which
   neither dies nor waits; what a loaded method computes is tested by tests/packaging/test_method_object.py. */
#define _GNU_SOURCE                         /* dladdr */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common.h"
#include "disk.h"

static char folder[] = "/tmp/costate-loaded-XXXXXX", path[64];

static int made(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return 1;
    return snprintf(path, sizeof path, "%s/x.so", folder) < 0;
}

static int gone(void **state)
{
    (void)state;
    return remove(path) != 0 || rmdir(folder) != 0;
}

static int load(costate_report *said)
{
    const costate_method *m = NULL;
    int status = costate_method_load(path, &m, said);
    assert_null(m);
    assert_int_equal(costate_method_load(path, &m, NULL), status);
    return status;
}

static void refused(const char *word)
{
    costate_report said;
    int status = load(&said);
    if (status != COSTATE_IO || !strstr(said.text, word) || !strstr(said.text, path))
        fail_msg("%s is wanted, and status %d says: %s", word, status, said.text);
}

static void written(const void *from, size_t bytes, long long size)
{
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(to >= 0 && pwrite(to, from, bytes, 0) == (ssize_t)bytes && ftruncate(to, size) == 0);
    close(to);
}

/* A library that is there in any case: that of the tests' own calls.  Its bytes, to be freed. */
static char *some_library(size_t *bytes)
{
    Dl_info of;
    struct stat is;
    union { int (*function)(const char *, const struct CMUnitTest *, size_t, CMFixtureFunction, CMFixtureFunction);
            void *address; } call = {_cmocka_run_group_tests};
    assert_true(dladdr(call.address, &of) != 0);
    int from = open(of.dli_fname, O_RDONLY);
    assert_true(from >= 0 && fstat(from, &is) == 0);
    *bytes = (size_t)is.st_size;
    char *all = malloc(*bytes);
    assert_true(all && pread(from, all, *bytes, 0) == (ssize_t)*bytes);
    close(from);
    return all;
}

/* It is loaded when it is whole: then it lacks a symbol. */
static void test_every_length(void **state)
{
    (void)state;
    costate_report said;
    size_t bytes;
    char *all = some_library(&bytes);
    written(all, bytes, (long long)bytes);
    assert_int_equal(load(&said), COSTATE_BAD_ARGUMENT);
    assert_non_null(strstr(said.text, "costate_object"));
    for (size_t cut = 1; cut <= bytes; cut += 1 + cut / 8) {
        assert_int_equal(truncate(path, (off_t)(bytes - cut)), 0);
        refused("cut short");
    }
    assert_int_equal(truncate(path, 0), 0);
    refused("cut short");
    free(all);
}

/* A header and two segments, of which one thing at a time says more than there is.  dlopen refuses the rest: these are
   libraries without a dynamic section. */
typedef struct { ElfW(Ehdr) h; ElfW(Phdr) s[2]; char more[64]; } small;

static small whole(void)
{
    small x = {.h = {.e_type = ET_DYN, .e_version = EV_CURRENT, .e_phoff = offsetof(small, s), .e_phnum = 2,
                     .e_ehsize = sizeof x.h, .e_phentsize = sizeof *x.s, .e_shentsize = sizeof(ElfW(Shdr))},
               .s = {{.p_type = PT_LOAD, .p_filesz = sizeof x, .p_memsz = sizeof x, .p_flags = PF_R, .p_align = 4096},
                     {.p_type = PT_LOAD, .p_filesz = 1, .p_memsz = 1, .p_flags = PF_R, .p_align = 4096}}};
    size_t unused;
    char *all = some_library(&unused);              /* of this machine: class, order of bytes, processor */
    memcpy(x.h.e_ident, all, EI_NIDENT);
    memcpy(&x.h.e_machine, all + offsetof(ElfW(Ehdr), e_machine), sizeof x.h.e_machine);
    free(all);
    return x;
}

static void test_what_headers_say(void **state)
{
    (void)state;
    costate_report said;
    small x = whole();
    const small good = x;
    written(&x, sizeof x, sizeof x);
    assert_int_equal(load(&said), COSTATE_IO);
    assert_null(strstr(said.text, "cut short"));                    /* it is whole, and of no use */
    x.s[0].p_filesz++, written(&x, sizeof x, sizeof x), refused("cut short"), x = good;
    x.s[1].p_offset = sizeof x, written(&x, sizeof x, sizeof x), refused("cut short"), x = good;
    x.s[1].p_offset = (ElfW(Off))-1, x.s[1].p_filesz = 2, written(&x, sizeof x, sizeof x), refused("cut short");
    x = good;
    x.h.e_phoff = sizeof x - sizeof *x.s, written(&x, sizeof x, sizeof x), refused("cut short"), x = good;
    x.h.e_phnum = 65535, written(&x, sizeof x, sizeof x), refused("cut short"), x = good;
    x.h.e_shoff = sizeof x, x.h.e_shnum = 1, written(&x, sizeof x, sizeof x), refused("cut short"), x = good;
    x.h.e_shoff = sizeof x + 1, written(&x, sizeof x, sizeof x), refused("cut short"), x = good;
    x.h.e_phoff = (ElfW(Off))-1, written(&x, sizeof x, sizeof x), refused("cut short");
    /* another machine's, and what is no library at all: dlopen says so */
    const int where[] = {EI_CLASS, EI_DATA, 0};
    for (int k = 0; k < 3; k++) {
        x = good, x.h.e_ident[where[k]] ^= 3, x.s[0].p_filesz++;
        written(&x, sizeof x, sizeof x);
        assert_int_equal(load(&said), COSTATE_IO);
        assert_non_null(strstr(said.text, path));
        assert_null(strstr(said.text, "cut short"));
    }
}

static void test_other_kinds_of_files(void **state)
{
    (void)state;
    assert_int_equal(unlink(path), 0);
    refused(strerror(ENOENT));
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);                                      /* it would wait for ever */
    refused("pipe");
    alarm(0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    refused("folder");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    refused("device");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(path, path), 0);
    refused(strerror(ELOOP));
    assert_int_equal(unlink(path), 0);
}

static void test_calls_that_fail(void **state)
{
    (void)state;
    costate_report said;
    size_t bytes;
    char *all = some_library(&bytes);
    written(all, bytes, (long long)bytes);
    free(all);
    const costate_method *m;
    for (long k = 1, harmed = 1; harmed; k++) {
        disk_fail(EIO, k, k + 1);
        int status = costate_method_load(path, &m, &said);
        harmed = disk_failures();
        disk_fail(0, 0, 0);
        int wanted = harmed ? status == COSTATE_IO && strstr(said.text, strerror(EIO)) : status == COSTATE_BAD_ARGUMENT;
        if (!wanted || m) fail_msg("call %ld: status %d, %s", k, status, said.text);
        assert_true(harmed || k > 5);                   /* open, fstat, the header and some segments */
    }
    const int harmless[] = {EINTR, DISK_SHORT};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        disk_fail(harmless[i], 2, 5);
        assert_int_equal(costate_method_load(path, &m, &said), COSTATE_BAD_ARGUMENT);       /* read after all */
        assert_true(disk_failures() > 0);
        disk_fail(0, 0, 0);
    }
    disk_fail(DISK_END, 1, LONG_MAX);
    refused("cut short");
    disk_fail(DISK_SHORT, 1, LONG_MAX);                     /* each read moves half of what is left */
    assert_int_equal(truncate(path, (off_t)(bytes / 2)), 0);
    refused("cut short");
    disk_fail(0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_length), cmocka_unit_test(test_what_headers_say),
        cmocka_unit_test(test_other_kinds_of_files), cmocka_unit_test(test_calls_that_fail),
    };
    return cmocka_run_group_tests(tests, made, gone);
}
