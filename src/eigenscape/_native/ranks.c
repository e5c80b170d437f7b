/* Ranks of some values in a row, without sorting the row. */
#define SOURCE "ranks.c"
#ifndef BODY
#include "lanes.h"
#include "native.h"

typedef int64_t long4 __attribute__((vector_size(32)));

#include "each.h"
#else

/* Values that are compared with a row at once; most callers have five or a multiple. */
#define FEW 5

/* Write to counts (FEW,) how many of the entries of a row (n,) are smaller than each of FEW values. */
static void count_below_few(const double *row, int64_t n, const double *values, int64_t *counts) {
    double4 limits[FEW];
    long4 sums[FEW];
    for (int v = 0; v < FEW; v++) {
        limits[v] = (double4){values[v], values[v], values[v], values[v]};
        sums[v] = (long4){0};
    }
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
        const double4 some = four_doubles(row + j);
        for (int v = 0; v < FEW; v++) sums[v] -= some < limits[v]; /* a comparison is 0 or -1 */
    }
    for (int v = 0; v < FEW; v++) counts[v] = sums[v][0] + sums[v][1] + sums[v][2] + sums[v][3];
    for (; j < n; j++)
        for (int v = 0; v < FEW; v++) counts[v] += row[j] < values[v];
}

/* count_below(rows, values, counts): count the entries of each row (b, n) that are smaller than its values (b, k).
 * One pass for every few values: a loop of comparisons is vectorised, and faster than a search with branches for
 * any useful k. */
int64_t NAME(count_below)(const argument *a) {
    const double *rows = a[0].data, *values = a[1].data;
    int64_t *counts = a[2].data;
    const int64_t b = a[0].shape[0], n = a[0].shape[1], k = a[1].shape[1];
    REQUIRE_SHAPE(a[1].shape[0] == b && a[2].shape[0] == b && a[2].shape[1] == k);
    for (int64_t i = 0; i < b; i++) {
        for (int64_t first = 0; first < k; first += FEW) {
            const size_t some = (size_t)least(FEW, k - first);
            double few[FEW] = {0};
            int64_t below[FEW];
            memcpy(few, values + i * k + first, some * sizeof(double));
            count_below_few(rows + i * n, n, few, below);
            memcpy(counts + i * k + first, below, some * sizeof(int64_t));
        }
    }
    return 0;
}
#endif
