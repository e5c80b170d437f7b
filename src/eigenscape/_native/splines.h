/* Cubic B-splines on a grid of nodes: each place is within the reach of four nodes in either direction. */
#ifndef EIGENSCAPE_SPLINES_H
#define EIGENSCAPE_SPLINES_H

#include "lanes.h"

/* The B-splines of four nodes at t between the second and the third of them, at 0 and 1. */
static inline double4 node_values(double t) {
    const double u = 1 - t;
    return (double4){u * u * u, 4 - 3 * t * t * (2 - t), 4 - 3 * u * u * (2 - u), t * t * t} / 6.0;
}

/* The derivatives of node_values. */
static inline double4 node_slopes(double t) {
    const double u = 1 - t;
    return (double4){-u * u, t * (3 * t - 4), u * (4 - 3 * u), t * t} / 2.0;
}

/* Write the first of the four nodes around a place, and return the place after the second of them. Places
 * outside the grid, which has at least four nodes, are moved to its border; NaN is among the first nodes. */
static inline double locate_node(double place, int64_t count, int64_t *first) {
    const double top = (double)(count - 2);
    place = place < 1.0 ? 1.0 : place > top ? top : place;
    const int64_t second = place >= 1.0 ? least((int64_t)place, count - 3) : 1;
    *first = second - 1;
    return place - (double)second;
}

/* The sum of four numbers from the first to the last. */
static inline double sum_in_order(double4 a) { return ((a[0] + a[1]) + a[2]) + a[3]; }

typedef struct {
    double value, along_x, along_y;
} spline_point;

#endif

#ifdef BODY
/* The value at (x, y) of a spline with coefficients nodes (n_x, n_y), and its two derivatives. */
static inline spline_point NAME(spline_at)(const REAL *nodes, int64_t n_x, int64_t n_y, const double *lower,
                                           double step, double x, double y) {
    int64_t a, b;
    const double t = locate_node((x - lower[0]) / step, n_x, &a), u = locate_node((y - lower[1]) / step, n_y, &b);
    const double4 x_values = node_values(t), x_slopes = node_slopes(t);
    const double4 y_values = node_values(u), y_slopes = node_slopes(u);
    const REAL *row = nodes + a * n_y + b;
    double4 sums = {0}, slopes = {0}; /* along y, for each of the four rows of nodes */
    for (int j = 0; j < 4; j++) {
        const double4 column = {row[j], row[n_y + j], row[2 * n_y + j], row[3 * n_y + j]};
        sums += y_values[j] * column;
        slopes += y_slopes[j] * column;
    }
    return (spline_point){sum_in_order(x_values * sums), sum_in_order(x_slopes * sums) / step,
                          sum_in_order(x_values * slopes) / step};
}
#endif
