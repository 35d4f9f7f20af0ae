/* operations.h - the operations of byte code, numbered as in codegen/equations/operations.py.

   OPERATION(name, operands, expression of the operands A, B, C) */
#ifndef COSTATE_PROGRAM_OPERATIONS_H
#define COSTATE_PROGRAM_OPERATIONS_H

#define OPERATIONS(OPERATION) \
    OPERATION(ADD, 2, A + B) \
    OPERATION(SUBTRACT, 2, A - B) \
    OPERATION(MULTIPLY, 2, A * B) \
    OPERATION(DIVIDE, 2, A / B) \
    OPERATION(NEGATE, 1, -A) \
    OPERATION(SELECT, 3, A != 0 ? B : C) \
    OPERATION(LESS, 2, A < B) \
    OPERATION(LESS_EQUAL, 2, A <= B) \
    OPERATION(EQUAL, 2, A == B) \
    OPERATION(UNEQUAL, 2, A != B) \
    OPERATION(AND, 2, A != 0 && B != 0) \
    OPERATION(OR, 2, A != 0 || B != 0) \
    OPERATION(NOT, 1, A == 0) \
    OPERATION(POW, 2, pow(A, B)) \
    OPERATION(ATAN2, 2, atan2(A, B)) \
    OPERATION(HYPOT, 2, hypot(A, B)) \
    OPERATION(ACOS, 1, acos(A)) \
    OPERATION(ACOSH, 1, acosh(A)) \
    OPERATION(ASIN, 1, asin(A)) \
    OPERATION(ASINH, 1, asinh(A)) \
    OPERATION(ATAN, 1, atan(A)) \
    OPERATION(ATANH, 1, atanh(A)) \
    OPERATION(CBRT, 1, cbrt(A)) \
    OPERATION(CEIL, 1, ceil(A)) \
    OPERATION(COS, 1, cos(A)) \
    OPERATION(COSH, 1, cosh(A)) \
    OPERATION(ERF, 1, erf(A)) \
    OPERATION(EXP, 1, exp(A)) \
    OPERATION(EXPM1, 1, expm1(A)) \
    OPERATION(FABS, 1, fabs(A)) \
    OPERATION(FLOOR, 1, floor(A)) \
    OPERATION(LOG, 1, log(A)) \
    OPERATION(LOG10, 1, log10(A)) \
    OPERATION(LOG1P, 1, log1p(A)) \
    OPERATION(LOG2, 1, log2(A)) \
    OPERATION(SIN, 1, sin(A)) \
    OPERATION(SINH, 1, sinh(A)) \
    OPERATION(SQRT, 1, sqrt(A)) \
    OPERATION(TAN, 1, tan(A)) \
    OPERATION(TANH, 1, tanh(A)) \
    OPERATION(COPY, 1, A)

#define NAMED(name, operands, expression) name,
enum operation { OPERATIONS(NAMED) OPERATION_COUNT };
#undef NAMED

/* those of arrays, arrays.c: all numbers but that of the operation are theirs */
enum { TIMES = OPERATION_COUNT, OUTER, ALL_OPERATIONS };
enum { TIMES_NUMBERS = 8, OUTER_NUMBERS = 7 };

#endif
