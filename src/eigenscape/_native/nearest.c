/* Exact nearest rows from blocks of lower bounds of squared distances.
 *
 * All loops take Y (b, d), X (at least n rows, d), rough (b, n), which plus base (b,) is a lower bound of the
 * squared distances between their rows, up to an error of at most slack (b,). Distances are computed for the
 * pairs that may matter, in double precision, so the results do not depend on how the bounds were found. REAL is
 * the type of X, OTHER the type of the bounds. */
#define SOURCE "nearest.c"
#define REALS
#define OTHERS
#ifndef BODY
#include "search.h"

/* Number of columns whose smallest value is computed first: most groups are skipped by it. */
#define GROUP 32
#define N_GROUPS(n) ((n) / GROUP + ((n) % GROUP > 0))

/* The rows and bounds that all loops take as their first five arguments. */
#define REQUIRE_BLOCK(a)                                                                                      \
    REQUIRE_SHAPE(a[2].shape[0] == a[0].shape[0] && a[1].shape[0] >= a[2].shape[1] &&                         \
                  a[1].shape[1] == a[0].shape[1] && a[3].size == a[0].shape[0] && a[4].size == a[0].shape[0])

#include "each.h"
#else

/* Write the smallest of every GROUP consecutive values (n,) to minima; the last may be of fewer. */
static void NAME(group_minima)(const OTHER *values, int64_t n, OTHER *minima) {
    int64_t start = 0;
    for (; start + GROUP <= n; start += GROUP) {
        OTHER lane[8];
        for (int t = 0; t < 8; t++) lane[t] = values[start + t];
        for (int s = 8; s < GROUP; s += 8)
            for (int t = 0; t < 8; t++) lane[t] = values[start + s + t] < lane[t] ? values[start + s + t] : lane[t];
        for (int t = 0; t < 4; t++) lane[t] = lane[t + 4] < lane[t] ? lane[t + 4] : lane[t];
        for (int t = 0; t < 2; t++) lane[t] = lane[t + 2] < lane[t] ? lane[t + 2] : lane[t];
        minima[start / GROUP] = lane[1] < lane[0] ? lane[1] : lane[0];
    }
    if (start < n) {
        OTHER smallest = values[start];
        for (int64_t j = start + 1; j < n; j++) smallest = values[j] < smallest ? values[j] : smallest;
        minima[start / GROUP] = smallest;
    }
}

/* What a search keeps while it goes through the rows of Y. */
typedef struct {
    OTHER *minima;   /* of the groups */
    OTHER *smallest; /* (k,) the smallest minima */
    int64_t *column; /* (n + 1,) columns to compare */
} NAME(scratch);

static void NAME(release)(NAME(scratch) *s) {
    free(s->minima);
    free(s->smallest);
    free(s->column);
}

/* Return whether there is room for a search. */
static int NAME(prepare)(NAME(scratch) *s, int64_t n, int64_t k) {
    s->minima = room(N_GROUPS(n), sizeof(OTHER));
    s->smallest = room(k, sizeof(OTHER));
    s->column = room(n + 1, sizeof(int64_t));
    if (!s->minima || !s->smallest || !s->column) {
        NAME(release)(s);
        return 0;
    }
    for (int64_t g = 0; g < N_GROUPS(n); g++) s->minima[g] = 0; /* a static analyser sees no other value */
    return 1;
}

/* Write to length the distances to the rows of X with the smallest bounds, all of `values` (n,).
 *
 * The k-th smallest of the minima is the largest of k bounds, so there are at least k bounds up to it. All rows
 * with such a bound are compared. Returns that limit; the nearest rows beyond it are no farther than the last
 * distance. Entries that are not found are infinite, with the number -1: there are some only if bounds are not
 * numbers. */
static OTHER NAME(start)(const double *y, const REAL *X, int64_t d, const OTHER *values, int64_t n,
                         NAME(scratch) *s, const int64_t *rank, int64_t k, double *length,
                         int64_t *number) {
    const int64_t n_groups = N_GROUPS(n);
    OTHER *smallest = s->smallest;
    NAME(group_minima)(values, n, s->minima);
    int64_t filled = 0;
    for (int64_t g = 0; g < n_groups; g++) {
        const OTHER value = s->minima[g];
        int64_t t;
        if (filled < k) t = filled++;
        else if (value < smallest[k - 1]) t = k - 1;
        else continue;
        for (; t > 0 && smallest[t - 1] > value; t--) smallest[t] = smallest[t - 1];
        smallest[t] = value;
    }
    const OTHER limit = filled == k ? smallest[k - 1] : (OTHER)INFINITY;
    int64_t used = 0;
    for (int64_t g = 0; g < n_groups; g++) {
        if (!(s->minima[g] <= limit)) continue;
        for (int64_t j = g * GROUP, stop = least(j + GROUP, n); j < stop; j++) {
            s->column[used] = j;
            used += values[j] <= limit;
        }
    }
    filled = 0;
    for (int64_t t = 0; t < used; t++) {
        const int64_t j = s->column[t];
        filled = insert_ordered(length, number, k, filled, SQUARED_DISTANCE(y, X + j * d, d), j, rank);
    }
    for (; filled < k; filled++) {
        length[filled] = INFINITY;
        number[filled] = -1;
    }
    return limit;
}

/* nearest_exact(Y, X, rough, base, slack, rank, length, number): find the k nearest rows of X to each row of Y, by
 * |y - x| and then by rank (n,). Distances are written to length, row numbers to number, both (b, k). */
int64_t NAME(nearest_exact)(const argument *a) {
    const double *Y = a[0].data, *base = a[3].data, *slack = a[4].data;
    const REAL *X = a[1].data;
    const OTHER *rough = a[2].data;
    const int64_t *rank = a[5].data;
    double *lengths = a[6].data;
    int64_t *numbers = a[7].data;
    const int64_t b = a[0].shape[0], d = a[0].shape[1], n = a[2].shape[1], k = a[6].shape[1];
    REQUIRE_BLOCK(a);
    REQUIRE_SHAPE(a[5].size == n && a[6].shape[0] == b && a[7].shape[0] == b && a[7].shape[1] == k);
    REQUIRE_SHAPE(k >= 1 && k <= n);
    NAME(scratch) s;
    if (!NAME(prepare)(&s, n, k)) return NO_MEMORY;
    for (int64_t i = 0; i < b; i++) {
        const OTHER *values = rough + i * n;
        double *length = lengths + i * k;
        int64_t *number = numbers + i * k;
        const OTHER seen = NAME(start)(Y + i * d, X, d, values, n, &s, rank, k, length, number);
        double limit = length[k - 1] - base[i] + slack[i];
        if (limit > seen) {
            for (int64_t g = 0; g < N_GROUPS(n); g++) {
                if (s.minima[g] > limit) continue;
                for (int64_t j = g * GROUP, stop = least(j + GROUP, n); j < stop; j++) {
                    if (!(seen < values[j] && values[j] <= limit)) continue;
                    insert_ordered(length, number, k, k, SQUARED_DISTANCE(Y + i * d, X + j * d, d), j, rank);
                    limit = length[k - 1] - base[i] + slack[i];
                }
            }
        }
        for (int64_t t = 0; t < k; t++) length[t] = sqrt(length[t]);
    }
    NAME(release)(&s);
    return 0;
}

/* nearest_or_within(Y, X, rough, base, slack, rank, radii, k, first, indptr, column, near): find the rows of X that
 * are among the k nearest of a row of Y, as nearest_exact, or within their own radii (n,), for the rows of Y from
 * number `first`.
 *
 * Their numbers, ascending, and distances are written to column and near from indptr[i] to indptr[i + 1] for row i
 * of Y; indptr (b + 1,) is read at `first` and written after it. Answers the number of rows done: fewer than b if
 * the pairs of the next row do not fit in column and near. */
int64_t NAME(nearest_or_within)(const argument *a) {
    const double *Y = a[0].data, *base = a[3].data, *slack = a[4].data, *radii = a[6].data;
    const REAL *X = a[1].data;
    const OTHER *rough = a[2].data;
    const int64_t *rank = a[5].data;
    int64_t *indptr = a[9].data, *column = a[10].data;
    double *near = a[11].data;
    const int64_t b = a[0].shape[0], d = a[0].shape[1], n = a[2].shape[1], k = a[7].n, capacity = a[10].size;
    int64_t i = a[8].n;
    REQUIRE_BLOCK(a);
    REQUIRE_SHAPE(a[5].size == n && a[6].size == n && k >= 1 && k <= n && a[9].size == b + 1);
    REQUIRE_SHAPE(a[11].size == capacity);
    REQUIRE_INDEX(i >= 0 && i <= b && indptr[i] >= 0 && indptr[i] <= capacity);
    NAME(scratch) s;
    if (!NAME(prepare)(&s, n, k)) return NO_MEMORY;
    double *squares = room(n, sizeof(double)), *widest = room(N_GROUPS(n), sizeof(double));
    double *length = room(k, sizeof(double));
    int64_t *number = room(k, sizeof(int64_t));
    if (!squares || !widest || !length || !number) {
        i = NO_MEMORY;
        goto done;
    }
    for (int64_t g = 0; g < N_GROUPS(n); g++) {
        widest[g] = -INFINITY;
        for (int64_t j = g * GROUP, stop = least(j + GROUP, n); j < stop; j++) {
            squares[j] = radii[j] * radii[j];
            if (squares[j] > widest[g]) widest[g] = squares[j];
        }
    }
    for (; i < b; i++) {
        const OTHER *values = rough + i * n;
        int64_t used = indptr[i];
        const OTHER seen = NAME(start)(Y + i * d, X, d, values, n, &s, rank, k, length, number);
        for (int64_t g = 0; g < N_GROUPS(n); g++) {
            const double lowest = s.minima[g] + base[i] - slack[i];
            if (lowest > length[k - 1] && lowest > widest[g]) continue;
            for (int64_t j = g * GROUP, stop = least(j + GROUP, n); j < stop; j++) {
                const double bound = values[j] + base[i] - slack[i];
                if (bound > length[k - 1] && bound > squares[j]) continue;
                const double exact = SQUARED_DISTANCE(Y + i * d, X + j * d, d);
                if (values[j] > seen) insert_ordered(length, number, k, k, exact, j, rank);
                if (sqrt(exact) <= radii[j]) {
                    if (used == capacity) goto done;
                    column[used] = j;
                    near[used++] = sqrt(exact);
                }
            }
        }
        for (int64_t t = 0; t < k; t++) { /* the nearest that are not within their radii */
            const int64_t j = number[t];
            if (j < 0 || sqrt(length[t]) <= radii[j]) continue;
            if (used == capacity) goto done;
            int64_t place = used++;
            for (; place > indptr[i] && column[place - 1] > j; place--) {
                column[place] = column[place - 1];
                near[place] = near[place - 1];
            }
            column[place] = j;
            near[place] = sqrt(length[t]);
        }
        indptr[i + 1] = used;
    }
done:
    free(squares);
    free(widest);
    free(length);
    free(number);
    NAME(release)(&s);
    return i;
}

/* closest_to_groups(Y, X, rough, base, slack, starts, length, near, far): find the closest pair between the rows
 * of Y and each group of consecutive rows of X. Group h begins at starts[h]. Squared distances are written to
 * length, rows of Y to near and rows of X to far, all (groups,). */
int64_t NAME(closest_to_groups)(const argument *a) {
    const double *Y = a[0].data, *base = a[3].data, *slack = a[4].data;
    const REAL *X = a[1].data;
    const OTHER *rough = a[2].data;
    const int64_t *starts = a[5].data;
    double *length = a[6].data;
    int64_t *near = a[7].data, *far = a[8].data;
    const int64_t b = a[0].shape[0], d = a[0].shape[1], n = a[2].shape[1], count = a[5].size;
    REQUIRE_BLOCK(a);
    REQUIRE_SHAPE(a[6].size == count && a[7].size == count && a[8].size == count);
    for (int64_t h = 0; h < count; h++)
        REQUIRE_INDEX(starts[h] >= 0 && starts[h] <= (h + 1 < count ? starts[h + 1] : n));
    OTHER *minima = room(N_GROUPS(n), sizeof(OTHER));
    if (!minima) return NO_MEMORY;
    for (int64_t h = 0; h < count; h++) length[h] = INFINITY;
    for (int64_t i = 0; i < b; i++) {
        const OTHER *values = rough + i * n;
        NAME(group_minima)(values, n, minima);
        for (int64_t h = 0; h < count; h++) {
            const int64_t stop = h + 1 < count ? starts[h + 1] : n;
            double limit = length[h] - base[i] + slack[i];
            for (int64_t g = starts[h] / GROUP; g < N_GROUPS(stop); g++) {
                if (minima[g] > limit) continue;
                for (int64_t j = most(starts[h], g * GROUP), end = least(stop, (g + 1) * GROUP); j < end; j++) {
                    if (!(values[j] <= limit)) continue;
                    const double exact = SQUARED_DISTANCE(Y + i * d, X + j * d, d);
                    if (exact < length[h]) {
                        length[h] = exact;
                        near[h] = i;
                        far[h] = j;
                        limit = exact - base[i] + slack[i];
                    }
                }
            }
        }
    }
    free(minima);
    return 0;
}
#endif
