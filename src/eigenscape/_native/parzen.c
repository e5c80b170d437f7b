/* Densities of manifold Parzen windows. */
#define SOURCE "parzen.c"
#ifndef BODY
#include "native.h"

/* Terms of a sum of exponentials below this multiple of the largest, as a logarithm, are lost to rounding. */
#define NEGLIGIBLE (-45.0)

/* Write the squares (q,) of the products of directions (q, n_features) with a difference, four at a time. */
static inline void project(const double *directions, const double *difference, int64_t q, int64_t n_features,
                           double *restrict squares) {
    int64_t r = 0;
    for (; r + 4 <= q; r += 4, directions += 4 * n_features) {
        double p[4] = {0.0, 0.0, 0.0, 0.0};
        for (int64_t f = 0; f < n_features; f++)
            for (int t = 0; t < 4; t++) p[t] += directions[t * n_features + f] * difference[f];
        for (int t = 0; t < 4; t++) squares[r + t] = p[t] * p[t];
    }
    for (; r < q; r++, directions += n_features) {
        double p = 0.0;
        for (int64_t f = 0; f < n_features; f++) p += directions[f] * difference[f];
        squares[r] = p * p;
    }
}

#include "each.h"
#else

/* parzen_log_densities(Y, X, variances, directions, dimensions, noises, log_volumes, out): write
 * log sum_i exp(-(q_i(y) + log_volumes_i) / 2) for all pairs of dimension and noise.
 * q_i(y) = (|y - x_i|^2 - sum_{r < d} p_r^2 s_ir / (s_ir + noise)) / noise, p_r = v_ir'(y - x_i).
 * The variances s are (n, q), the directions v (n, q, n_features). The dimensions ascend. log_volumes is
 * (n, n_dimensions, n_noises), out (n_new, n_dimensions, n_noises). */
int64_t NAME(parzen_log_densities)(const argument *a) {
    const double *Y = a[0].data, *X = a[1].data, *variances = a[2].data, *directions = a[3].data;
    const int64_t *dimensions = a[4].data;
    const double *noises = a[5].data, *log_volumes = a[6].data;
    double *out = a[7].data;
    const int64_t n_new = a[0].shape[0], n = a[1].shape[0], n_features = a[1].shape[1], q = a[2].shape[1];
    const int64_t n_dimensions = a[4].size, n_noises = a[5].size;
    REQUIRE_SHAPE(a[0].shape[1] == n_features && a[2].shape[0] == n);
    REQUIRE_SHAPE(a[3].shape[0] == n && a[3].shape[1] == q && a[3].shape[2] == n_features);
    REQUIRE_SHAPE(a[6].shape[0] == n && a[6].shape[1] == n_dimensions && a[6].shape[2] == n_noises);
    REQUIRE_SHAPE(a[7].shape[0] == n_new && a[7].shape[1] == n_dimensions && a[7].shape[2] == n_noises);
    for (int64_t d = 0; d < n_dimensions; d++) REQUIRE_INDEX(dimensions[d] <= q);
    const int64_t n_pairs = n_dimensions * n_noises;
    double *scratch = room(n_features + q + 2 * n_pairs, sizeof(double));
    if (!scratch) return NO_MEMORY;
    double *difference = scratch, *squares = difference + n_features, *largest = squares + q;
    double *total = largest + n_pairs;
    for (int64_t row = 0; row < n_new; row++) {
        const double *y = Y + row * n_features;
        for (int64_t pair = 0; pair < n_pairs; pair++) {
            largest[pair] = -INFINITY;
            total[pair] = 0.0;
        }
        for (int64_t i = 0; i < n; i++) {
            double squared = 0.0;
            for (int64_t f = 0; f < n_features; f++) {
                difference[f] = y[f] - X[i * n_features + f];
                squared += difference[f] * difference[f];
            }
            project(directions + i * q * n_features, difference, q, n_features, squares);
            const double *variance = variances + i * q;
            for (int64_t w = 0; w < n_noises; w++) {
                const double noise = noises[w];
                double explained = 0.0;
                int64_t r = 0;
                for (int64_t d = 0; d < n_dimensions; d++) {
                    for (; r < dimensions[d]; r++) explained += squares[r] * variance[r] / (variance[r] + noise);
                    const int64_t pair = d * n_noises + w;
                    const double exponent = -0.5 * ((squared - explained) / noise + log_volumes[i * n_pairs + pair]);
                    const double above = exponent - largest[pair];
                    if (above > 0.0) {
                        total[pair] = total[pair] * exp(-above) + 1.0;
                        largest[pair] = exponent;
                    } else if (above > NEGLIGIBLE) {
                        total[pair] += exp(above);
                    }
                }
            }
        }
        for (int64_t pair = 0; pair < n_pairs; pair++) out[row * n_pairs + pair] = largest[pair] + log(total[pair]);
    }
    free(scratch);
    return 0;
}
#endif
