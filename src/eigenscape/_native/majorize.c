/* Placement of points at given distances from fixed points. */
#define SOURCE "majorize.c"
#ifndef BODY
#include "native.h"
#include "each.h"
#else

/* Move a place (p,) to a minimum, given its m targets; return whether it has converged. */
static inline int NAME(majorize_one)(const double *targets, const double *points, double *place, double *new,
                                     int64_t m, int64_t p, double tol, int64_t max_iter) {
    for (int64_t step = 0; step < max_iter; step++) {
        for (int64_t c = 0; c < p; c++) new[c] = 0.0;
        for (int64_t j = 0; j < m; j++) {
            const double *point = points + j * p;
            double square = 0.0;
            for (int64_t c = 0; c < p; c++) square += (place[c] - point[c]) * (place[c] - point[c]);
            const double ratio = square > 0.0 ? targets[j] / sqrt(square) : 0.0;
            for (int64_t c = 0; c < p; c++) new[c] += point[c] + ratio * (place[c] - point[c]);
        }
        double moved = 0.0;
        for (int64_t c = 0; c < p; c++) {
            new[c] /= (double)m;
            moved += (new[c] - place[c]) * (new[c] - place[c]);
            place[c] = new[c];
        }
        if (moved <= tol * tol) return 1;
    }
    return 0;
}

/* place_at_distances(targets, points, places, tol, max_iter): move each row y of places (n, p) to a minimum of
 * sum_j (|y - x_j| - t_j)^2 for points x (m, p) and targets t (n, m).
 * y <- mean_j (x_j + t_j (y - x_j) / |y - x_j|) never raises the sum (de Leeuw 1977). A row depends on its own
 * targets only. Answer the number of rows that did not converge. */
int64_t NAME(place_at_distances)(const argument *a) {
    const double *targets = a[0].data, *points = a[1].data;
    double *places = a[2].data;
    const double tol = a[3].x;
    const int64_t max_iter = a[4].n, n = a[2].shape[0], m = a[1].shape[0], p = a[1].shape[1];
    REQUIRE_SHAPE(a[0].shape[0] == n && a[0].shape[1] == m && a[2].shape[1] == p && m >= 1);
    REQUIRE_SHAPE(max_iter <= MOST_STEPS);
    int64_t n_unconverged = 0;
    if (p == 2) { /* the numbers of a place in the plane stay in registers */
        for (int64_t i = 0; i < n; i++) {
            double place[2] = {places[2 * i], places[2 * i + 1]}, new[2];
            n_unconverged += !NAME(majorize_one)(targets + i * m, points, place, new, m, 2, tol, max_iter);
            memcpy(places + 2 * i, place, sizeof(place));
        }
        return n_unconverged;
    }
    double *new = room(p, sizeof(double));
    if (!new) return NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        n_unconverged += !NAME(majorize_one)(targets + i * m, points, places + i * p, new, m, p, tol, max_iter);
    free(new);
    return n_unconverged;
}
#endif
