/* Mixtures of affine maps: membership of points in kernels, and values of the mixture. */
#define SOURCE "mixtures.c"
#define INDICES
#ifndef BODY
#include "native.h"

/* Exponents below this do not change a sum of at least 1. */
#define NEGLIGIBLE (-45.0)

/* Add share * (offset + (x - center)' slopes) to the c outputs, for slopes (d, c). */
static inline void add_affine(const double *x, const double *center, const double *slopes, const double *offset,
                              double share, int64_t d, int64_t c, double *restrict out) {
    for (int64_t t = 0; t < c; t++) out[t] += share * offset[t];
    for (int64_t j = 0; j < d; j++) {
        const double step = share * (x[j] - center[j]);
        for (int64_t t = 0; t < c; t++) out[t] += step * slopes[j * c + t];
    }
}

/* The same for numbers of outputs that are known to the compiler: sums stay in registers. */
#define ADD_FEW(c) do { \
    double sums[c]; \
    memcpy(sums, out, sizeof(sums)); \
    add_affine(x, center, slopes, offset, share, d, c, sums); \
    memcpy(out, sums, sizeof(sums)); \
} while (0)

static inline void add_share(const double *x, const double *center, const double *slopes, const double *offset,
                             double share, int64_t d, int64_t c, double *out) {
    switch (c) {
    case 1: ADD_FEW(1); break;
    case 2: ADD_FEW(2); break;
    case 3: ADD_FEW(3); break;
    case 4: ADD_FEW(4); break;
    default: add_affine(x, center, slopes, offset, share, d, c, out);
    }
}

/* Write share * (x - center). */
static inline void weigh_difference(const double *x, const double *center, double share, int64_t d,
                                    double *restrict out) {
    for (int64_t j = 0; j < d; j++) out[j] = share * (x[j] - center[j]);
}

#include "each.h"
#else

/* count_members(exponents, threshold, top, total, counts): count the kernels whose share of the sum exceeds the
 * threshold, for exponents e (n, K): top_i = max_k e_ik and total_i = sum_k exp(e_ik - top_i). The largest exponent
 * is subtracted before exponents are compared, as their own digits do not resolve the threshold far from all
 * kernels. */
int64_t NAME(count_members)(const argument *a) {
    const double threshold = a[1].x;
    double *top = a[2].data, *total = a[3].data;
    int64_t *counts = a[4].data;
    const int64_t n = a[0].shape[0], n_kernels = a[0].shape[1];
    REQUIRE_SHAPE(n_kernels >= 1 && a[2].size == n && a[3].size == n && a[4].size == n);
    for (int64_t i = 0; i < n; i++) {
        const double *row = (const double *)a[0].data + i * n_kernels;
        double largest = row[0], sum = 0.0;
        for (int64_t k = 1; k < n_kernels; k++) largest = row[k] > largest ? row[k] : largest;
        for (int64_t k = 0; k < n_kernels; k++) {
            if (row[k] == largest) sum += 1.0;
            else if (row[k] - largest > NEGLIGIBLE) sum += exp(row[k] - largest);
        }
        const double cut = log(threshold * sum);
        int64_t count = 0;
        for (int64_t k = 0; k < n_kernels; k++) count += row[k] == largest || row[k] - largest > cut;
        top[i] = largest;
        total[i] = sum;
        counts[i] = count;
    }
    return 0;
}

/* fill_members(exponents, threshold, top, totals, indptr, columns, shares, kept): write the members of each row that
 * count_members counted, and s_ik = (q_ik - threshold)_+ / kept_i of sum 1 over k; q are shares of the sum. */
int64_t NAME(fill_members)(const argument *a) {
    const double threshold = a[1].x;
    const double *top = a[2].data, *totals = a[3].data;
    const int64_t *indptr = a[4].data;
    int32_t *columns = a[5].data;
    double *shares = a[6].data, *kept = a[7].data;
    const int64_t n = a[0].shape[0], n_kernels = a[0].shape[1], capacity = a[5].size;
    REQUIRE_SHAPE(a[2].size == n && a[3].size == n && a[4].size == n + 1 && a[6].size == capacity && a[7].size == n);
    REQUIRE_SHAPE(n_kernels <= INT32_MAX);
    for (int64_t i = 0; i < n; i++) {
        const double *row = (const double *)a[0].data + i * n_kernels;
        const int64_t first = indptr[i], last = indptr[i + 1];
        REQUIRE_INDEX(first >= 0 && last <= capacity);
        const double cut = log(threshold * totals[i]);
        double total = 0.0;
        int64_t place = first;
        for (int64_t k = 0; k < n_kernels; k++) {
            const double below = row[k] == top[i] ? 0.0 : row[k] - top[i];
            if (below == 0.0 || below > cut) {
                REQUIRE_INDEX(place < last);
                columns[place] = (int32_t)k;
                shares[place] = exp(below) / totals[i] - threshold;
                total += shares[place++];
            }
        }
        for (int64_t e = first; e < place; e++) shares[e] /= total;
        kept[i] = total;
    }
    return 0;
}

/* mix_affine(X, indptr, columns, shares, centers, slopes, offsets, out): write
 * out_i = sum_k s_ik (offsets_k + (x_i - centers_k)' slopes_k), for slopes (K, d, c). */
int64_t NAME(mix_affine)(const argument *a) {
    const double *X = a[0].data, *shares = a[3].data, *centers = a[4].data, *slopes = a[5].data, *offsets = a[6].data;
    const INDEX *indptr = a[1].data, *columns = a[2].data;
    double *out = a[7].data;
    const int64_t n = a[0].shape[0], d = a[0].shape[1], n_kernels = a[4].shape[0], c = a[6].shape[1];
    REQUIRE_SHAPE(a[1].size == n + 1 && a[2].size == a[3].size && a[4].shape[1] == d && a[5].shape[0] == n_kernels);
    REQUIRE_SHAPE(a[5].shape[1] == d && a[5].shape[2] == c && a[6].shape[0] == n_kernels);
    REQUIRE_SHAPE(a[7].shape[0] == n && a[7].shape[1] == c);
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = indptr[i], last = indptr[i + 1];
        REQUIRE_INDEX(first >= 0 && last <= a[2].size);
        for (int64_t t = 0; t < c; t++) out[i * c + t] = 0.0;
        for (int64_t e = first; e < last; e++) {
            const int64_t k = columns[e];
            REQUIRE_INDEX(WITHIN(k, n_kernels));
            add_share(X + i * d, centers + k * d, slopes + k * d * c, offsets + k * c, shares[e], d, c, out + i * c);
        }
    }
    return 0;
}

/* mark_members(rows, indptr, columns, marked): mark the kernels that have a member among rows. */
int64_t NAME(mark_members)(const argument *a) {
    const int64_t *rows = a[0].data;
    const INDEX *indptr = a[1].data, *columns = a[2].data;
    uint8_t *marked = a[3].data;
    const int64_t n = a[1].size - 1;
    REQUIRE_SHAPE(n >= 0);
    for (int64_t r = 0; r < a[0].size; r++) {
        REQUIRE_INDEX(WITHIN(rows[r], n));
        const int64_t first = indptr[rows[r]], last = indptr[rows[r] + 1];
        REQUIRE_INDEX(first >= 0 && last <= a[2].size);
        for (int64_t e = first; e < last; e++) {
            REQUIRE_INDEX(WITHIN(columns[e], a[3].size));
            marked[columns[e]] = 1;
        }
    }
    return 0;
}

/* local_coordinates(rows, X, indptr, columns, shares, centers, projections, plain, slot, out): write
 * out[r, slot_k] = s_ik (K_k (x_i - mu_k), 1) for i = rows[r], 0 elsewhere. The projections K_k (q, d) are the
 * identity if plain, and not read. */
int64_t NAME(local_coordinates)(const argument *a) {
    const int64_t *rows = a[0].data, *slot = a[8].data;
    const double *X = a[1].data, *shares = a[4].data, *centers = a[5].data, *projections = a[6].data;
    const INDEX *indptr = a[2].data, *columns = a[3].data;
    const int plain = a[7].n != 0;
    double *out = a[9].data;
    const int64_t n = a[1].shape[0], d = a[1].shape[1], n_kernels = a[5].shape[0];
    const int64_t n_slots = a[9].shape[1], size = a[9].shape[2], n_local = size - 1;
    REQUIRE_SHAPE(a[2].size == n + 1 && a[3].size == a[4].size && a[5].shape[1] == d && a[8].size == n_kernels);
    REQUIRE_SHAPE(a[9].shape[0] == a[0].size && size >= 1);
    if (plain) REQUIRE_SHAPE(n_local == d);
    else REQUIRE_SHAPE(a[6].shape[0] == n_kernels && a[6].shape[1] == n_local && a[6].shape[2] == d);
    memset(out, 0, (size_t)a[9].size * sizeof(double));
    for (int64_t r = 0; r < a[0].size; r++) {
        const int64_t i = rows[r];
        REQUIRE_INDEX(WITHIN(i, n));
        const double *x = X + i * d;
        const int64_t first = indptr[i], last = indptr[i + 1];
        REQUIRE_INDEX(first >= 0 && last <= a[3].size);
        for (int64_t e = first; e < last; e++) {
            const int64_t k = columns[e];
            REQUIRE_INDEX(WITHIN(k, n_kernels) && WITHIN(slot[k], n_slots));
            const double share = shares[e], *center = centers + k * d;
            double *place = out + (r * n_slots + slot[k]) * size;
            place[n_local] = share;
            if (plain) {
                weigh_difference(x, center, share, d, place);
                continue;
            }
            for (int64_t q = 0; q < n_local; q++) {
                const double *projection = projections + (k * n_local + q) * d;
                double sum = place[q];
                for (int64_t j = 0; j < d; j++) sum += share * projection[j] * (x[j] - center[j]);
                place[q] = sum;
            }
        }
    }
    return 0;
}
#endif
