/* Gradient descent of a map whose points attract their neighbours and repel each other. */
#define SOURCE "descent.c"
#define REALS
#define INDICES
#ifndef BODY
#include "native.h"

/* Change of a gain whose coordinate moves steadily or back and forth, and its least value (Jacobs 1988). */
#define FASTER 0.2
#define SLOWER 0.8
#define LEAST_GAIN 0.01

#include "each.h"
#else
#include "splines.h"

/* forces(first, last, points, indptr, indices, weights, nodes, lower, step, repulsion, slopes, pulls): write for
 * the points first, ..., last - 1 the repulsion (n,), which is a spline with coefficients nodes (n_x, n_y), its
 * gradient slopes (n, 2), and the attraction pulls (n, 2): sum_j W_ij (x_i - x_j) / (1 + |x_i - x_j|^2). */
int64_t NAME(forces)(const argument *a) {
    const int64_t first = a[0].n, last = a[1].n, n = a[2].shape[0], n_edges = a[4].size;
    const double *points = a[2].data, *weights = a[5].data, *lower = a[7].data;
    const INDEX *indptr = a[3].data, *indices = a[4].data;
    const REAL *nodes = a[6].data;
    const int64_t n_x = a[6].shape[0], n_y = a[6].shape[1];
    const double step = a[8].x;
    double *repulsion = a[9].data, *slopes = a[10].data, *pulls = a[11].data;
    REQUIRE_SHAPE(0 <= first && first <= last && last <= n && a[2].shape[1] == 2 && a[3].size == n + 1);
    REQUIRE_SHAPE(a[5].size == n_edges && n_x >= 4 && n_y >= 4 && a[7].size == 2 && a[9].size == n);
    REQUIRE_SHAPE(a[10].shape[0] == n && a[10].shape[1] == 2 && a[11].shape[0] == n && a[11].shape[1] == 2);
    for (int64_t i = first; i < last; i++) {
        const double x = points[2 * i], y = points[2 * i + 1];
        const spline_point found = NAME(spline_at)(nodes, n_x, n_y, lower, step, x, y);
        repulsion[i] = found.value;
        slopes[2 * i] = found.along_x;
        slopes[2 * i + 1] = found.along_y;
        double pull_x = 0.0, pull_y = 0.0;
        const int64_t begin = indptr[i], end = indptr[i + 1];
        REQUIRE_INDEX(begin >= 0 && end <= n_edges);
        for (int64_t e = begin; e < end; e++) {
            const int64_t j = indices[e];
            REQUIRE_INDEX(WITHIN(j, n));
            const double dx = x - points[2 * j], dy = y - points[2 * j + 1];
            const double weight = weights[e] / (1 + dx * dx + dy * dy);
            pull_x += weight * dx;
            pull_y += weight * dy;
        }
        pulls[2 * i] = pull_x;
        pulls[2 * i + 1] = pull_y;
    }
    return 0;
}

/* move(points, slopes, pulls, push, pull, rate, momentum, longest, gains, moves): move points (n, p) against the
 * gradient pull * pulls + push * slopes, in place. Slopes and pulls may have more columns than points.
 * Gradient descent with momentum and gains: a coordinate is faster while the signs of its gradient and of its last
 * move differ, and slower otherwise (Jacobs 1988; van der Maaten and Hinton 2008). No point moves by more than
 * longest. */
int64_t NAME(move)(const argument *a) {
    double *points = a[0].data, *gains = a[8].data, *moves = a[9].data;
    const double *slopes = a[1].data, *pulls = a[2].data;
    const double push = a[3].x, pull = a[4].x, rate = a[5].x, momentum = a[6].x, longest = a[7].x;
    const int64_t n = a[0].shape[0], p = a[0].shape[1], width = a[1].shape[1];
    REQUIRE_SHAPE(a[1].shape[0] == n && width >= p && a[2].shape[0] == n && a[2].shape[1] == width);
    REQUIRE_SHAPE(a[8].shape[0] == n && a[8].shape[1] == p && a[9].shape[0] == n && a[9].shape[1] == p);
    for (int64_t i = 0; i < n; i++, points += p, gains += p, moves += p, slopes += width, pulls += width) {
        double square = 0.0;
        for (int64_t c = 0; c < p; c++) {
            const double gradient = pull * pulls[c] + push * slopes[c], before = moves[c];
            const int alike = (gradient > 0) == (before > 0) && (gradient < 0) == (before < 0);
            gains[c] = alike && !isnan(gradient + before) ? SLOWER * gains[c] + LEAST_GAIN : gains[c] + FASTER;
            moves[c] = momentum * before - rate * gains[c] * gradient;
            square += moves[c] * moves[c];
        }
        const double shorter = square > longest * longest ? longest / sqrt(square) : 1.0;
        for (int64_t c = 0; c < p; c++) {
            moves[c] *= shorter;
            points[c] += moves[c];
        }
    }
    return 0;
}
#endif
