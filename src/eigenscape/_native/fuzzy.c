/* Widths of fuzzy neighbourhoods, and counts of concordant pairs. */
#define SOURCE "fuzzy.c"
#ifndef BODY
#include "native.h"

/* As many numbers as the processor compares at once. Sums of signs are exact in any order. */
#ifdef __AVX2__
#define WIDTH 4
#else
#define WIDTH 2
#endif
typedef double reals __attribute__((vector_size(8 * WIDTH)));
typedef int64_t counts __attribute__((vector_size(8 * WIDTH)));

static inline reals some_doubles(const double *x) {
    reals out;
    memcpy(&out, x, sizeof(out));
    return out;
}

#include "each.h"
#else

/* fuzzy_widths(lengths, offsets, target, widths): write the root sigma_i of
 * sum_j exp(-max(0, d_ij - rho_i) / sigma_i) = target, by bisection, for lengths d (n, k) and offsets rho (n,).
 * The sum increases with sigma. If it exceeds the target for every width, the width is 0. */
int64_t NAME(fuzzy_widths)(const argument *a) {
    const double *lengths = a[0].data, *offsets = a[1].data;
    const double target = a[2].x;
    double *widths = a[3].data;
    const int64_t n = a[0].shape[0], k = a[0].shape[1];
    REQUIRE_SHAPE(a[1].size == n && a[3].size == n);
    for (int64_t i = 0; i < n; i++) {
        double low = 0.0, high = INFINITY, width = 1.0;
        for (int step = 0; step < 200; step++) {
            double total = 0.0;
            for (int64_t j = 0; j < k; j++) {
                const double excess = lengths[i * k + j] - offsets[i];
                total += excess > 0 ? exp(-excess / width) : 1.0;
            }
            if (fabs(total - target) < 1e-12 * target) break;
            if (total > target) high = width;
            else low = width;
            width = high == INFINITY ? 2 * width : (low + high) / 2;
            if (width > 1e200 || high < 1e-200) break;
        }
        widths[i] = high >= 1e-200 ? width : 0.0;
    }
    return 0;
}

/* The sum of sign((a - first_j) (b - second_j)) over j < n. */
static inline double NAME(sum_of_signs)(const double *first, const double *second, double a, double b, int64_t n) {
    counts totals = {0};
    int64_t j = 0, total = 0;
    for (; j + WIDTH <= n; j += WIDTH) {
        const reals product = (a - some_doubles(first + j)) * (b - some_doubles(second + j));
        totals += (product < 0.0) - (product > 0.0); /* a comparison that holds is -1 */
    }
    for (int lane = 0; lane < WIDTH; lane++) total += totals[lane];
    for (; j < n; j++) {
        const double product = (a - first[j]) * (b - second[j]);
        total += (product > 0) - (product < 0);
    }
    return (double)total;
}

/* concordance(first, second, start, stop, before, after): write sum_{j < i} s_ij and sum_{j > i} s_ij with
 * s_ij = sign((a_i - a_j) (b_i - b_j)), for the elements start to stop of first and second (n,). */
int64_t NAME(concordance)(const argument *a) {
    const double *first = a[0].data, *second = a[1].data;
    const int64_t start = a[2].n, stop = a[3].n, n = a[0].size;
    double *before = a[4].data, *after = a[5].data;
    REQUIRE_SHAPE(0 <= start && start <= stop && stop <= n);
    REQUIRE_SHAPE(a[1].size == n && a[4].size == n && a[5].size == n);
    for (int64_t i = start; i < stop; i++) {
        before[i] = NAME(sum_of_signs)(first, second, first[i], second[i], i);
        after[i] = NAME(sum_of_signs)(first + i + 1, second + i + 1, first[i], second[i], n - i - 1);
    }
    return 0;
}
#endif
