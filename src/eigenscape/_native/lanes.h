/* Vectors of four or eight numbers, the same sums on every processor. */
#ifndef EIGENSCAPE_LANES_H
#define EIGENSCAPE_LANES_H

#include <stdint.h>
#include <string.h>

typedef double double4 __attribute__((vector_size(32)));
typedef float float8 __attribute__((vector_size(32)));

static inline double4 four_doubles(const double *x) {
    double4 out;
    memcpy(&out, x, sizeof(out));
    return out;
}

static inline double4 four_floats(const float *x) {
    return (double4){x[0], x[1], x[2], x[3]};
}

static inline void put_doubles(double *x, double4 value) { memcpy(x, &value, sizeof(value)); }

/* Four numbers of type REAL as doubles. */
#define FOUR(x) _Generic((x), const float *: four_floats, float *: four_floats, default: four_doubles)(x)

static inline double sum_lanes(double4 a) { return (a[0] + a[1]) + (a[2] + a[3]); }

#endif
