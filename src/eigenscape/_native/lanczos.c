/* Lanczos steps with full orthogonalisation: product with the matrix, and projection. */
#define SOURCE "lanczos.c"
#define INDICES
#ifndef BODY
#include "lanes.h"
#include "native.h"
#include "each.h"
#else
#include "sparse_rows.h"

#define N_PACKS (4 / PACKED)

/* The sum of four lanes and of the products x y from `from` on, which are not a whole group of four. */
static inline double NAME(finish)(const PACK *sums, const double *x, const double *y, int64_t from, int64_t n) {
    double lanes[4];
    for (int k = 0; k < N_PACKS; k++) PUT(sums[k], lanes + k * PACKED);
    double sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    for (int64_t i = from; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static inline double NAME(dot)(const double *x, const double *y, int64_t n) {
    PACK sums[N_PACKS] = {{0}}, p, q;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < N_PACKS; k++) {
            GET(p, x + i + k * PACKED);
            GET(q, y + i + k * PACKED);
            sums[k] += p * q;
        }
    }
    return NAME(finish)(sums, x, y, i, n);
}

/* multiply_shifted(indptr, indices, data, bound, V, row, length, w, products): replace w by (bound - A) q, for the row
 * q of V, without its part in q and without length times the row before; write <q, (bound - A) q> and <w, w> to
 * products. If length is not 0, q becomes w / length first. */
int64_t NAME(multiply_shifted)(const argument *a) {
    const INDEX *restrict indptr = a[0].data, *restrict indices = a[1].data;
    const double *restrict data = a[2].data;
    const double bound = a[3].x, length = a[6].x;
    const int64_t n = a[4].shape[1], row = a[5].n;
    double *restrict w = a[7].data, *products = a[8].data;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[1].size == a[2].size && a[7].size == n && a[8].size == 2);
    REQUIRE_INDEX(WITHIN(row, a[4].shape[0]) && (row > 0 || length == 0));
    double *restrict q = (double *)a[4].data + row * n;
    if (length != 0)
        for (int64_t i = 0; i < n; i++) q[i] = w[i] / length;
    for (int64_t block = 0; block < n; block += CHECKED_ROWS) {
        const int64_t end = least(block + CHECKED_ROWS, n);
        REQUIRE_INDEX(NAME(rows_fit)(indptr, indices, block, end, a[1].size, n));
        for (int64_t i = block; i < end; i++) {
            double sum = 0;
            int64_t e = indptr[i];
            const int64_t stop = indptr[i + 1];
            ADD_ENTRIES(sum, e, stop, q)
            w[i] = bound * q[i] - sum;
        }
    }
    const double inside = NAME(dot)(q, w, n);
    for (int64_t i = 0; i < n; i++) w[i] -= inside * q[i];
    if (length != 0)
        for (int64_t i = 0; i < n; i++) w[i] -= length * (q - n)[i];
    products[0] = inside;
    products[1] = NAME(dot)(w, w, n);
    return 0;
}

/* project_out(V, count, w, parts, square): write the products of the first rows of V with w to parts (count,), subtract
 * these multiples of the rows from w, and write <w, w> to square (1,). Four rows are read at a time. */
int64_t NAME(project_out)(const argument *a) {
    const double *restrict V = a[0].data;
    const int64_t n = a[0].shape[1], count = a[1].n;
    double *restrict w = a[2].data, *restrict parts = a[3].data, *square = a[4].data;
    REQUIRE_SHAPE(count >= 0 && count <= a[0].shape[0] && a[2].size == n && a[3].size == count && a[4].size == 1);
    int64_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const double *v = V + r * n;
        PACK sums[4][N_PACKS] = {{{0}}}, p, q;
        int64_t i = 0;
        for (; i + 4 <= n; i += 4) {
            for (int k = 0; k < N_PACKS; k++) {
                GET(p, w + i + k * PACKED);
                for (int u = 0; u < 4; u++) {
                    GET(q, v + u * n + i + k * PACKED);
                    sums[u][k] += p * q;
                }
            }
        }
        for (int u = 0; u < 4; u++) parts[r + u] = NAME(finish)(sums[u], v + u * n, w, i, n);
    }
    for (; r < count; r++) parts[r] = NAME(dot)(V + r * n, w, n);
    for (r = 0; r + 4 <= count; r += 4) {
        const double *v0 = V + r * n, *v1 = v0 + n, *v2 = v1 + n, *v3 = v2 + n, *h = parts + r;
        const double h0 = h[0], h1 = h[1], h2 = h[2], h3 = h[3];
        for (int64_t i = 0; i < n; i++) w[i] -= (h0 * v0[i] + h1 * v1[i]) + (h2 * v2[i] + h3 * v3[i]);
    }
    for (; r < count; r++)
        for (int64_t i = 0; i < n; i++) w[i] -= parts[r] * V[r * n + i];
    *square = NAME(dot)(w, w, n);
    return 0;
}
#endif
