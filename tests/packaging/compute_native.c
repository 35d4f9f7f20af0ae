/* compute_native.c - the C of the page that computes, with the library of this build: a program from a file, then
   method, component, t0, t1, rtol, atol and parameters; prints the status and the result as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include "compute.h"

enum { MOST = 1 << 16, FIRST = 8, PARAMETERS = 32 };

int main(int argc, char **argv)
{
    static unsigned char bytes[MOST];
    double p[PARAMETERS] = {0};
    const int np = argc - FIRST;
    if (np < 0 || np > PARAMETERS) return 1;
    FILE *file = fopen(argv[1], "rb");
    if (!file) return 1;
    const int size = (int)fread(bytes, 1, MOST, file);
    fclose(file);
    for (int k = 0; k < np; k++) p[k] = strtod(argv[FIRST + k], NULL);
    computation *c = compute_new(bytes, size);
    if (!c) return 1;
    int status = compute_run(c, argv[2], atoi(argv[3]), strtod(argv[4], NULL), strtod(argv[5], NULL),
                             strtod(argv[6], NULL), strtod(argv[7], NULL), p, 1);
    const double *r = compute_result(c);
    printf("[%d", status);
    for (int k = 0; r && k < COMPUTE_GRADIENT + 2 * np; k++) printf(", %.17g", r[k]);
    puts("]");
    compute_free(c);
    return 0;
}
