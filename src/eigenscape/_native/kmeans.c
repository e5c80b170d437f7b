/* k-means: greedy seeding and Lloyd's iteration. */
#define SOURCE "kmeans.c"
#ifndef BODY
#include "lanes.h"
#include "native.h"
#include "each.h"
#else

/* Write the squared distances of a row x (d,) to four points to `out`; P (d, 4) has the features of the points. */
static inline void four_distances(const double *x, const double *P, int64_t d, double *out) {
    PACK sums[4 / PACKED] = {{0}}, values;
    for (int64_t f = 0; f < d; f++) {
        for (int k = 0; k < 4 / PACKED; k++) {
            GET(values, P + 4 * f + PACKED * k);
            values = x[f] - values;
            sums[k] += values * values;
        }
    }
    for (int k = 0; k < 4 / PACKED; k++) PUT(sums[k], out + PACKED * k);
}

/* Write the features of the point x (d,) to column `lane` of P (d, 4). */
static inline void put_point(double *P, int lane, const double *x, int64_t d) {
    for (int64_t f = 0; f < d; f++) P[4 * f + lane] = x[f];
}

/* The first place of an increasing array with a larger number, or the last one. */
static inline int64_t draw(const double *mass, int64_t n, double value) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (value < mass[middle]) high = middle;
        else low = middle + 1;
    }
    return least(low, n - 1);
}

/* seed_centers(X, weights, uniform, centers): choose centers (k, d) among the rows of X (n, d) (Arthur and
 * Vassilvitskii 2007).
 *
 * Each is drawn with a probability proportional to the weight (n,) and the squared distance from the centres before
 * it; of several draws the one that reduces the weighted sum of these most is kept. uniform (k, draws) are random
 * numbers in [0, 1). */
int64_t NAME(seed_centers)(const argument *a) {
    const double *X = a[0].data, *weights = a[1].data, *uniform = a[2].data;
    double *centers = a[3].data;
    const int64_t n = a[0].shape[0], d = a[0].shape[1], k = a[2].shape[0], draws = a[2].shape[1];
    REQUIRE_SHAPE(n > 0 && k > 0 && draws > 0 && a[1].size == n && a[3].shape[0] == k && a[3].shape[1] == d);
    double *scratch = room(7 * n + 4 * d, sizeof(double));
    if (!scratch) return NO_MEMORY;
    /* Distances to the nearest centre, the best draw's, and those of four draws (n, 4), whose features are points. */
    double *mass = scratch, *nearest = mass + n, *best = nearest + n, *trials = best + n, *points = trials + 4 * n;
    memset(points, 0, (size_t)(4 * d) * sizeof(double));
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        mass[i] = total += weights[i];
        nearest[i] = INFINITY;
    }
    for (int64_t c = 0; c < k; c++) {
        double lowest = 0;
        for (int64_t t = 0; t < (c ? draws : 1); t += 4) {
            const int some = (int)least(c ? draws - t : 1, 4);
            int64_t drawn[4];
            for (int u = 0; u < some; u++) {
                drawn[u] = draw(mass, n, uniform[c * draws + t + u] * mass[n - 1]);
                put_point(points, u, X + drawn[u] * d, d);
            }
            double sums[4] = {0};
            for (int64_t i = 0; i < n; i++) {
                double *trial = trials + 4 * i;
                four_distances(X + i * d, points, d, trial);
                for (int u = 0; u < 4; u++) {
                    trial[u] = nearest[i] < trial[u] ? nearest[i] : trial[u];
                    sums[u] += weights[i] * trial[u];
                }
            }
            for (int u = 0; u < some; u++) {
                if (t + u > 0 && !(sums[u] < lowest)) continue;
                lowest = sums[u];
                memcpy(centers + c * d, X + drawn[u] * d, (size_t)d * sizeof(double));
                for (int64_t i = 0; i < n; i++) best[i] = trials[4 * i + u];
            }
        }
        total = 0;
        for (int64_t i = 0; i < n; i++) {
            nearest[i] = best[i];
            mass[i] = total += weights[i] * nearest[i];
        }
    }
    free(scratch);
    return 0;
}

/* improve_centers(X, weights, centers, max_iter, tol, inertia): move centers (k, d) to the means of the rows nearest
 * to them until they move by at most tol, a sum of squares.
 *
 * Means are weighted. An empty cluster takes the row farthest from its centre. inertia (1,) becomes the weighted sum
 * of the squared distances of all rows to the nearest centre. */
int64_t NAME(improve_centers)(const argument *a) {
    const double *X = a[0].data, *weights = a[1].data, tol = a[4].x;
    double *centers = a[2].data, *inertia = a[5].data;
    const int64_t n = a[0].shape[0], d = a[0].shape[1], k = a[2].shape[0], max_iter = a[3].n;
    REQUIRE_SHAPE(n > 0 && k > 0 && a[1].size == n && a[2].shape[1] == d && a[5].size == 1);
    REQUIRE_SHAPE(0 <= max_iter && max_iter <= MOST_STEPS);
    const int64_t fours = (k + 3) / 4;
    double *scratch = room(k * d + k + n + 4 * fours * d, sizeof(double));
    if (!scratch) return NO_MEMORY;
    /* points are the centres by fours, as four_distances reads them; the last one fills the rest. */
    double *sums = scratch, *counts = sums + k * d, *distance = counts + k, *points = distance + n;
    for (int64_t step = 0; step <= max_iter; step++) {
        for (int64_t c = 0; c < 4 * fours; c++)
            put_point(points + c / 4 * 4 * d, (int)(c % 4), centers + least(c, k - 1) * d, d);
        memset(sums, 0, (size_t)(k * d + k) * sizeof(double));
        double total = 0;
        for (int64_t i = 0; i < n; i++) {
            double nearest = INFINITY;
            int64_t label = 0;
            for (int64_t c = 0; c < 4 * fours; c += 4) {
                double found[4];
                four_distances(X + i * d, points + c * d, d, found);
                for (int u = 0; u < 4; u++) {
                    label = found[u] < nearest ? c + u : label;
                    nearest = found[u] < nearest ? found[u] : nearest;
                }
            }
            distance[i] = nearest;
            total += weights[i] * nearest;
            counts[label] += weights[i];
            for (int64_t f = 0; f < d; f++) sums[label * d + f] += weights[i] * X[i * d + f];
        }
        *inertia = total;
        if (step == max_iter) break;
        double moved = 0;
        for (int64_t c = 0; c < k; c++) {
            int64_t farthest = 0;
            if (counts[c] == 0)
                for (int64_t i = 1; i < n; i++) farthest = distance[i] > distance[farthest] ? i : farthest;
            for (int64_t f = 0; f < d; f++) {
                const double mean = counts[c] == 0 ? X[farthest * d + f] : sums[c * d + f] / counts[c];
                const double offset = mean - centers[c * d + f];
                moved += offset * offset;
                centers[c * d + f] = mean;
            }
            if (counts[c] == 0) distance[farthest] = 0;
        }
        if (moved <= tol) break;
    }
    free(scratch);
    return 0;
}
#endif
