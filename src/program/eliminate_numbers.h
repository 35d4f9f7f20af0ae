/* eliminate_numbers.h - elimination and solution for one kind of numbers, included once for each kind by eliminate.c.

   NUMBER is their type, OF(name) the name of a function for them; less(a, b, c) = a - b c.  The statements are those of
   the C that codegen/equations/elimination.py prints, in the same order. */

/* start, less the products of its terms, in the list behind *at, which moves on */
static NUMBER OF(reduced)(NUMBER value, const NUMBER *LU, const NUMBER *x, const int32_t **at)
{
    const int32_t *const end = *at + 1 + 2 * **at;
    for (const int32_t *t = *at + 1; t < end; t += 2) value = OF(less)(value, LU[t[0]], x[t[1]]);
    *at = end;
    return value;
}

/* whether a pivot has lost no more than 11 digits; a: its element of A, or NULL */
static int OF(sound)(const NUMBER *a, const NUMBER *LU, const int32_t *terms, NUMBER pivot)
{
    double sum = a ? OF(modulus)(*a) : 0;
    for (int k = 1; k < 1 + 2 * terms[0]; k += 2) sum += OF(modulus)(LU[terms[k]]) * OF(modulus)(LU[terms[k + 1]]);
    return sum < 1e11 * OF(modulus)(pivot);
}

int OF(factor)(const elimination *e, const NUMBER *A, NUMBER *LU)
{
    int safe = 1;
    const int32_t *at = e->factor;
    for (int k = 0; k < e->entries; k++) {
        const int pivot = at[0];
        const NUMBER *a = at[1] < 0 ? NULL : A + at[1];
        const int32_t *terms = at += 2;
        const NUMBER value = OF(reduced)(a ? *a : OF(nothing), LU, LU, &at);
        if (pivot == k) {
            safe &= OF(sound)(a, LU, terms, value);
            LU[k] = OF(inverse)(value);
        } else if (pivot >= 0) {
            LU[k] = OF(times)(value, LU[pivot]);
            safe &= OF(modulus)(LU[k]) <= 1e3;
        } else {
            LU[k] = value;
        }
    }
    return safe;
}

void OF(solve)(const elimination *e, int transposed, const NUMBER *LU, NUMBER *x)
{
    NUMBER y[MOST_ROWS];
    const int32_t *at = e->forward[transposed];
    for (int i = 0; i < e->n; i++) {
        const int k = at[0], from = at[1], pivot = at[2];
        at += 3;
        const NUMBER value = OF(reduced)(x[from], LU, y, &at);
        y[k] = transposed ? OF(times)(value, LU[pivot]) : value;
    }
    at = e->backward[transposed];
    for (int i = 0; i < e->n; i++) {
        const int k = at[0], to = at[1], pivot = at[2];
        at += 3;
        const NUMBER value = OF(reduced)(y[k], LU, x, &at);
        x[to] = transposed ? value : OF(times)(value, LU[pivot]);
    }
}
