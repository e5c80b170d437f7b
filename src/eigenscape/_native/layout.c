/* Placement of points on a fixed map, between the attraction of their neighbours and the repulsion of all. */
#define SOURCE "layout.c"
#define INDICES
#ifndef BODY
#include "native.h"

/* A step is shortened at most this often; it has then reached the rounding error of the objective. */
#define HALVINGS 30
/* The longest step, in widths of the repulsion, and the decrease of the energy relative to its slope. */
#define LONGEST 2.0
#define DECREASE 1e-4

/* The repulsion of all points of a map: a spline. */
typedef struct {
    const double *nodes, *lower;
    int64_t n_x, n_y;
    double step;
} repulsion_field;

/* Update the inverse Hessian (2, 2) of BFGS; a direction without positive curvature changes nothing. */
static inline void update_inverse(double inverse[2][2], const double move[2], const double change[2]) {
    const double product = move[0] * change[0] + move[1] * change[1];
    if (product <= 1e-12 * (move[0] * move[0] + move[1] * move[1])) return;
    const double image[2] = {inverse[0][0] * change[0] + inverse[0][1] * change[1],
                             inverse[1][0] * change[0] + inverse[1][1] * change[1]};
    const double factor = (1 + (change[0] * image[0] + change[1] * image[1]) / product) / product;
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            inverse[a][b] += factor * move[a] * move[b] - (image[a] * move[b] + move[a] * image[b]) / product;
}

#include "each.h"
#else
#include "splines.h"

/* The attraction of one point: its neighbours on the map, and their weights. */
typedef struct {
    const double *points, *weights;
    const INDEX *columns;
    int64_t count;
} NAME(neighbours);

/* sum_j a_j log(1 + |y - x_j|^2) + R(y), whose gradient is written, for neighbours x with the weights a. R is the
 * repulsion of all points. Also write sum_j 2 a_j / (1 + |y - x_j|^2), the curvature of a quadratic function above
 * the attraction. */
static double NAME(energy)(const double y[2], const NAME(neighbours) *near, const repulsion_field *field,
                           double gradient[2], double *curvature) {
    const spline_point start =
        NAME(spline_at)(field->nodes, field->n_x, field->n_y, field->lower, field->step, y[0], y[1]);
    double total = start.value, along_x = start.along_x, along_y = start.along_y, sum = 0.0;
    for (int64_t e = 0; e < near->count; e++) {
        const double *point = near->points + 2 * (int64_t)near->columns[e];
        const double dx = y[0] - point[0], dy = y[1] - point[1], square = dx * dx + dy * dy;
        total += near->weights[e] * log1p(square);
        const double pull = 2 * near->weights[e] / (1 + square);
        sum += pull;
        along_x += pull * dx;
        along_y += pull * dy;
    }
    gradient[0] = along_x;
    gradient[1] = along_y;
    *curvature = sum;
    return total;
}

/* Move y to a minimum of the energy by BFGS; return whether it has converged. */
static int NAME(descend)(double y[2], const NAME(neighbours) *near, const repulsion_field *field, int flat, double tol,
                         int64_t max_iter) {
    double gradient[2], trial_gradient[2], trial[2], move[2], curvature, ignored;
    double best = NAME(energy)(y, near, field, gradient, &curvature);
    double inverse[2][2] = {{1 / curvature, 0 / curvature}, {0 / curvature, 1 / curvature}};
    for (int64_t iteration = 0; iteration < max_iter; iteration++) {
        if (flat) gradient[1] = 0.0;
        for (int c = 0; c < 2; c++) move[c] = -inverse[c][0] * gradient[0] - inverse[c][1] * gradient[1];
        const double size = sqrt(move[0] * move[0] + move[1] * move[1]);
        if (size <= tol) return 1;
        if (size > LONGEST)
            for (int c = 0; c < 2; c++) move[c] *= LONGEST / size;
        double slope = move[0] * gradient[0] + move[1] * gradient[1]; /* negative: the inverse is positive definite */
        double found = 0.0;
        int halvings = 0;
        for (; halvings < HALVINGS; halvings++) {
            for (int c = 0; c < 2; c++) trial[c] = y[c] + move[c];
            found = NAME(energy)(trial, near, field, trial_gradient, &ignored);
            if (found <= best + DECREASE * slope) break;
            for (int c = 0; c < 2; c++) move[c] /= 2;
            slope /= 2;
        }
        if (halvings == HALVINGS) return 1; /* no step changes the energy by more than its rounding error */
        const double change[2] = {trial_gradient[0] - gradient[0], flat ? 0.0 : trial_gradient[1] - gradient[1]};
        update_inverse(inverse, move, change);
        best = found;
        memcpy(y, trial, sizeof(trial));
        memcpy(gradient, trial_gradient, sizeof(gradient));
    }
    return 0;
}

/* place_on_map(first, last, indptr, indices, weights, points, nodes, lower, step, flat, tol, max_iter, places): write
 * for the rows first, ..., last - 1 a minimum (n, 2) of the energy, starting at the best neighbour, 0 for rows
 * without one. The neighbours of a row are points (m, 2), and nodes (n_x, n_y) the coefficients of the repulsion.
 * BFGS with steps that are halved until the energy decreases enough. With flat the second coordinate is not changed.
 * Answer the number of rows that have not converged. */
int64_t NAME(place_on_map)(const argument *a) {
    const int64_t first = a[0].n, last = a[1].n, n = a[12].shape[0], n_edges = a[3].size, m = a[5].shape[0];
    const INDEX *indptr = a[2].data, *indices = a[3].data;
    const double *weights = a[4].data, *points = a[5].data;
    const repulsion_field field = {a[6].data, a[7].data, a[6].shape[0], a[6].shape[1], a[8].x};
    const int flat = a[9].n != 0;
    const double tol = a[10].x;
    const int64_t max_iter = a[11].n;
    double *places = a[12].data;
    REQUIRE_SHAPE(0 <= first && first <= last && last <= n && a[12].shape[1] == 2 && a[2].size == n + 1);
    REQUIRE_SHAPE(a[4].size == n_edges && a[5].shape[1] == 2 && field.n_x >= 4 && field.n_y >= 4 && a[7].size == 2);
    REQUIRE_SHAPE(max_iter <= MOST_STEPS);
    int64_t n_unconverged = 0;
    for (int64_t i = first; i < last; i++) {
        const int64_t begin = indptr[i], end = indptr[i + 1];
        REQUIRE_INDEX(0 <= begin && begin <= end && end <= n_edges);
        for (int64_t e = begin; e < end; e++) REQUIRE_INDEX(WITHIN(indices[e], m));
        const NAME(neighbours) near = {points, weights + begin, indices + begin, end - begin};
        double best = INFINITY, y[2] = {0.0, 0.0}, gradient[2], curvature;
        for (int64_t e = 0; e < near.count; e++) {
            const double *point = points + 2 * (int64_t)near.columns[e];
            const double found = NAME(energy)(point, &near, &field, gradient, &curvature);
            if (found < best) {
                best = found;
                memcpy(y, point, sizeof(y));
            }
        }
        n_unconverged += !NAME(descend)(y, &near, &field, flat, tol, max_iter);
        memcpy(places + 2 * i, y, sizeof(y));
    }
    return n_unconverged;
}
#endif
