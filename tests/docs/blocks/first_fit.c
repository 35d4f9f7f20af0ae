@ recipes #include <cminpack.h>

@ recipes /* lmder1 calls it with flag 1 for the residuals r at x, with flag 2 for their Jacobian J */

@ recipes int main(void)
