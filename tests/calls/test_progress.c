/* test_progress.c - costate_progress writes to a terminal and nowhere else, one line that it clears, and changes
   nothing. */
#define _XOPEN_SOURCE 600
#include "common.h"
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 20000 };

static int slow_value(const costate_point *x, double *out, void *ctx)
{
    (void)ctx;
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    out[0] = -x->y[0];
    return 0;
}

static int quick_value(const costate_point *x, double *out, void *ctx) { (void)ctx; out[0] = -x->y[0]; return 0; }

/* y' = -y in steps of 0.02; y(1).  Slowly: 300 calls of 2 ms, three times what passes from line to line. */
static double decay(int slow, int shown)
{
    costate_problem P = {.n = 1, .rhs = {.value = slow ? slow_value : quick_value}};
    costate_options o = {.hmax = 0.02, .on_step = shown ? costate_progress : NULL};
    costate *c = costate_new(costate_method_find("dopri5"), &P, &o);
    double y = 1;
    CHECK_OK(c, costate_integrate(c, 0, 1, &y, NULL, NULL));
    costate_free(c);
    return y;
}

/* what the run writes to a stderr that is `where`; read from `from` */
static size_t heard(int where, int from, int slow, char *text)
{
    int kept = dup(STDERR_FILENO);
    dup2(where, STDERR_FILENO);
    double y = decay(slow, 1);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    assert_true(y == decay(0, 0));
    fcntl(from, F_SETFL, O_NONBLOCK);
    ssize_t size = read(from, text, ROOM - 1);
    text[size > 0 ? size : 0] = 0;
    return strlen(text);
}

static void terminal(void **state)
{
    (void)state;
    char text[ROOM];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) skip();
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0) skip();
    assert_int_equal(heard(slave, master, 0, text), 0);            /* over before there is anything to say */
    assert_true(heard(slave, master, 1, text) > 80);
    char *number = strstr(text, "dopri5:"), *per_cent = strchr(text, '%');
    if (!number || !per_cent || !strstr(text, "left") || !strstr(text, "steps")) fail_msg("said: %s", text);
    double done = strtod(number + 7, NULL);
    assert_true(done >= 1 && done < 100);
    assert_null(strchr(text, '\n'));
    assert_int_equal(text[strlen(text) - 1], '\r');                /* cleared */
    assert_int_equal(text[strlen(text) - 2], ' ');
    close(slave);
    close(master);
}

static void elsewhere(void **state)
{
    (void)state;
    char text[ROOM];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(heard(ends[1], ends[0], 1, text), 0);
    assert_int_equal(costate_progress(NULL, NULL), 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(terminal), cmocka_unit_test(elsewhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
