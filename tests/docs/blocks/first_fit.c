@ parameter-estimation #include <cminpack.h>

@ parameter-estimation /* lmder1 calls it with flag 1 for the residuals r at x, with flag 2 for their Jacobian J */

@ parameter-estimation int main(void)
