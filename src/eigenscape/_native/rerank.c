/* Exact distances of the candidates of an approximate search. */
#define SOURCE "rerank.c"
#define REALS
#ifndef BODY
#include "search.h"
#include "each.h"
#else

/* rerank(Y, X, which, candidates, near, count, rest_of_query, rest_of_point, doubt_of_query, doubt_of_point, reach,
 * rank, length, number, found, row, column, within): find the nearest rows of X among the candidates (b, w) of the rows
 * `which` (b,) of Y.
 *
 * Candidates are row numbers, -1 for none. near (b, w) are their squared distances in some orthonormal directions;
 * with the norms of the remainders, known up to a doubt, they bound the squared distances from below. A distance is
 * computed if the bound is below the k-th distance so far, for the first `count` candidates, or below the squared
 * length `reach` of the candidate. Distances and row numbers of the nearest are written to the rows `which` of
 * length and number (n, k), by distance and then by rank (n,), the numbers of candidates to found.
 *
 * Rows of Y, rows of X and squared distances of the pairs not farther than `reach` of the row of X are written to
 * row, column and within, each with room for b w; answers their number. There are none if reach is empty. */
int64_t NAME(rerank)(const argument *a) {
    const REAL *Y = a[0].data, *X = a[1].data;
    const int64_t *which = a[2].data, *candidates = a[3].data;
    const double *near = a[4].data, *reach = a[10].data;
    const int64_t count = a[5].n;
    const float *rest_of_query = a[6].data, *rest_of_point = a[7].data;
    const float *doubt_of_query = a[8].data, *doubt_of_point = a[9].data;
    const int64_t *rank = a[11].data;
    double *lengths = a[12].data, *within = a[17].data;
    int64_t *numbers = a[13].data, *found = a[14].data, *row = a[15].data, *column = a[16].data;
    const int64_t n_rows = a[0].shape[0], d = a[0].shape[1], n = a[1].shape[0], b = a[2].size, w = a[3].shape[1];
    const int64_t k = a[12].shape[1], has_reach = a[10].size > 0, pairs = has_reach ? a[3].size : 0;
    REQUIRE_SHAPE(a[1].shape[1] == d && a[3].shape[0] == b && a[4].shape[0] == b && a[4].shape[1] == w);
    REQUIRE_SHAPE(a[6].size == n_rows && a[8].size == n_rows && a[7].size == n && a[9].size == n &&
                  (!has_reach || a[10].size == n) && a[11].size == n);
    REQUIRE_SHAPE(a[12].shape[0] == n_rows && a[13].shape[0] == n_rows && a[13].shape[1] == k && k >= 1 &&
                  a[14].size == n_rows && a[15].size >= pairs && a[16].size >= pairs && a[17].size >= pairs);
    double *query = room(d, sizeof(double));
    if (!query) return NO_MEMORY;
    int64_t used = 0;
    for (int64_t s = 0; s < b; s++) {
        const int64_t i = which[s];
        if (!WITHIN(i, n_rows)) goto bad_index;
        double *length = lengths + i * k;
        int64_t *number = numbers + i * k, filled = 0, t = 0;
        for (int64_t f = 0; f < d; f++) query[f] = Y[i * d + f];
        for (; t < w && candidates[s * w + t] >= 0; t++) {
            const int64_t c = candidates[s * w + t];
            if (!WITHIN(c, n)) goto bad_index;
            const float gap = fabsf(rest_of_query[i] - rest_of_point[c]) - doubt_of_query[i] - doubt_of_point[c];
            const double beyond = gap > 0 ? gap : 0;
            const double bound = near[s * w + t] * (1 - 1e-4) + beyond * beyond;
            const double limit = has_reach ? reach[c] : -1;
            const int is_far = t >= count || (filled == k && bound > length[k - 1]);
            if (is_far && bound > limit) continue;
            const double square = SQUARED_DISTANCE(query, X + c * d, d);
            if (t < count) filled = insert_ordered(length, number, k, filled, square, c, rank);
            if (square <= limit) {
                row[used] = i;
                column[used] = c;
                within[used++] = square;
            }
        }
        found[i] = least(t, count);
        for (t = 0; t < filled; t++) length[t] = sqrt(length[t]);
    }
    free(query);
    return used;
bad_index:
    free(query);
    return BAD_INDEX;
}
#endif
