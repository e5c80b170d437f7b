/* Exponentials in place, for tiles of a symmetric matrix. */
#define SOURCE "tiles.c"
#ifndef BODY
#include "lanes.h"
#include "native.h"

/* 1.5 * 2^52 + 1023: added to a small number, it leaves the nearest integer plus 1023 in the lowest bits. */
#define ROUND (6755399441055744.0 + 1023)
#define LOG2_E 1.4426950408889634
/* log(2) in two parts, the first with trailing zeros: a product with a small integer is exact. */
#define LOG_2_HIGH 0.69314718036912381649
#define LOG_2_LOW 1.90821492927058770002e-10
/* Below this the exponential is not a normal number in double precision. */
#define LOWEST (-708.0)

#include "each.h"
#else

typedef int64_t NAME(mask) __attribute__((vector_size(sizeof(PACK))));

/* exp(min(x, 0)) of the numbers of a pack, 0 below exp(-708).
 *
 * exp(x) = 2^k exp(r) with k the integer nearest to x / log 2, and exp(r) = 1 + (r + r^2 q(r)) by its Taylor series of
 * degree 13; exact to one unit in the last place. The terms of q are added in pairs, pairs of pairs and so on (Estrin):
 * a chain of sums would take longer, since each waits for the one before. */
static inline PACK NAME(exponentials)(PACK x) {
    typedef NAME(mask) mask;
    const PACK zero = {0}, lowest = zero + LOWEST;
    x = (PACK)((mask)x & ~(x > zero));
    const mask is_low = x < lowest;
    PACK k = (PACK)(((mask)x & ~is_low) | ((mask)lowest & is_low)) * LOG2_E + ROUND;
    const PACK power = (PACK)((mask)k << 52);
    k -= ROUND;
    const PACK r = (x - k * LOG_2_HIGH) - k * LOG_2_LOW, r2 = r * r, r4 = r2 * r2;
    const PACK a = (1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
    const PACK b = (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0 + r * (1.0 / 362880.0));
    const PACK c = (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + r2 * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0));
    const PACK q = (a + r4 * b) + (r4 * r4) * c;
    return (PACK)((mask)((1.0 + (r + r2 * q)) * power) & (x >= lowest));
}

/* exponential_tile(flat, stride, left, right): replace x[i, j] by exp(min(x[i, j] - left[i] - right[j], 0)), by 0
 * below exp(-708) and where that is not a number. Row i of the tile x begins at flat[i * stride]. */
int64_t NAME(exponential_tile)(const argument *a) {
    double *flat = a[0].data;
    const int64_t stride = a[1].n, rows = a[2].size, columns = a[3].size;
    const double *left = a[2].data, *right = a[3].data;
    if (rows == 0 || columns == 0) return 0;
    REQUIRE_SHAPE(stride >= columns && columns <= a[0].size && (a[0].size - columns) / stride >= rows - 1);
    for (int64_t i = 0; i < rows; i++) {
        double *row = flat + i * stride;
        PACK x, other;
        int64_t j = 0;
        for (; j + PACKED <= columns; j += PACKED) {
            GET(x, row + j);
            GET(other, right + j);
            x = NAME(exponentials)(x - left[i] - other);
            PUT(x, row + j);
        }
        for (; j < columns; j++) {
            x = NAME(exponentials)((PACK){row[j] - left[i] - right[j]});
            row[j] = x[0];
        }
    }
    return 0;
}
#endif
