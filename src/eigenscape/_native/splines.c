/* Cubic B-splines on a grid: points are spread to nodes, and a function on the nodes is interpolated. */
#define SOURCE "splines.c"
#define REALS
#ifndef BODY
#include "native.h"
#include "each.h"
#else
#include "splines.h"

/* spread(points, lower, step, mass): write the sums of the B-splines of points (n, 2) at the nodes (n_x, n_y). */
int64_t NAME(spread)(const argument *a) {
    const double *points = a[0].data, *lower = a[1].data;
    const double step = a[2].x;
    REAL *mass = a[3].data;
    const int64_t n = a[0].shape[0], n_x = a[3].shape[0], n_y = a[3].shape[1];
    REQUIRE_SHAPE(a[0].shape[1] == 2 && a[1].size == 2 && n_x >= 4 && n_y >= 4);
    memset(mass, 0, (size_t)a[3].size * sizeof(REAL));
    for (int64_t i = 0; i < n; i++) {
        int64_t first, second;
        const double4 x = node_values(locate_node((points[2 * i] - lower[0]) / step, n_x, &first));
        const double4 y = node_values(locate_node((points[2 * i + 1] - lower[1]) / step, n_y, &second));
        REAL *row = mass + first * n_y + second;
        for (int j = 0; j < 4; j++, row += n_y) {
            const double4 sum = FOUR(row) + x[j] * y;
            for (int k = 0; k < 4; k++) row[k] = (REAL)sum[k];
        }
    }
    return 0;
}

/* spline_values(nodes, lower, step, points, values): write the values (n,) at points (n, 2) of a spline with the
 * coefficients nodes (n_x, n_y). */
int64_t NAME(spline_values)(const argument *a) {
    const REAL *nodes = a[0].data;
    const double *lower = a[1].data, *points = a[3].data;
    const double step = a[2].x;
    double *values = a[4].data;
    const int64_t n_x = a[0].shape[0], n_y = a[0].shape[1], n = a[4].size;
    REQUIRE_SHAPE(n_x >= 4 && n_y >= 4 && a[1].size == 2 && a[3].shape[0] == n && a[3].shape[1] == 2);
    for (int64_t i = 0; i < n; i++)
        values[i] = NAME(spline_at)(nodes, n_x, n_y, lower, step, points[2 * i], points[2 * i + 1]).value;
    return 0;
}
#endif
