/* A dense matrix times a few vectors. */
#define SOURCE "dense_products.c"
#define REALS
#ifndef BODY
#include "lanes.h"
#include "native.h"

/* As many doubles as a register holds, at most four, and the numbers of type REAL that become them. */
#define WIDE PACK_double
#define N_WIDE ((int)(sizeof(WIDE) / sizeof(double)))

static inline WIDE wide_doubles(const double *x) {
    WIDE out;
    GET(out, x);
    return out;
}

#ifdef __AVX__
static inline WIDE wide_floats(const float *x) { return four_floats(x); }
static inline double sum_wide(WIDE x) { return sum_lanes(x); }
#else
static inline WIDE wide_floats(const float *x) { return (WIDE){x[0], x[1]}; }
static inline double sum_wide(WIDE x) { return x[0] + x[1]; }
#endif

#define TAKE(x) _Generic((x), const float *: wide_floats, default: wide_doubles)(x)

/* Add the products of two rows with the vector at `v` to s and t. */
static inline void add_products(WIDE p, WIDE q, const double *v, WIDE *s, WIDE *t) {
    WIDE values = wide_doubles(v);
    IN_REGISTER(values);
    *s += p * values;
    *t += q * values;
}

#include "each.h"
#else

/* multiply_dense(K, V, first, last, out): write sum_j K[i, j] V[c, j] to out[c, i] for the rows first to last of K.
 * V has a multiple of four rows. Sums for two rows and four vectors stay in registers, and a row of the matrix is
 * read once: BLAS copies it first, which takes longer than a product with few vectors.
 *
 * A sum is (a0 + a1) + (a2 + a3), with a_l the sum for j = l, l + 4, ... in this order, and then the last j. */
int64_t NAME(multiply_dense)(const argument *a) {
    const REAL *restrict K = a[0].data;
    const double *restrict V = a[1].data;
    const int64_t rows = a[0].shape[0], m = a[0].shape[1], vectors = a[1].shape[0], first = a[2].n, last = a[3].n;
    double *restrict out = a[4].data;
    REQUIRE_SHAPE(a[1].shape[1] == m && vectors % 4 == 0);
    REQUIRE_SHAPE(a[4].shape[0] == vectors && a[4].shape[1] == rows && first >= 0 && last <= rows);
    const int64_t whole = m / 4 * 4;
    for (int64_t i = first; i < last; i += 2) {
        const int has_next = i + 1 < last;
        const REAL *x = K + i * m, *y = has_next ? x + m : x;
        for (int64_t c = 0; c < vectors; c += 4) {
            const double *v0 = V + c * m, *v1 = v0 + m, *v2 = v1 + m, *v3 = v2 + m;
            double s[4] = {0}, t[4] = {0};
            for (int lane = 0; lane < 4; lane += N_WIDE) {
                WIDE s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
                for (int64_t j = lane; j < whole; j += 4) {
                    const WIDE p = TAKE(x + j), q = TAKE(y + j);
                    add_products(p, q, v0 + j, &s0, &t0);
                    add_products(p, q, v1 + j, &s1, &t1);
                    add_products(p, q, v2 + j, &s2, &t2);
                    add_products(p, q, v3 + j, &s3, &t3);
                }
                s[0] += sum_wide(s0);
                s[1] += sum_wide(s1);
                s[2] += sum_wide(s2);
                s[3] += sum_wide(s3);
                t[0] += sum_wide(t0);
                t[1] += sum_wide(t1);
                t[2] += sum_wide(t2);
                t[3] += sum_wide(t3);
            }
            for (int64_t j = whole; j < m; j++) {
                for (int k = 0; k < 4; k++) {
                    s[k] += x[j] * v0[k * m + j];
                    t[k] += y[j] * v0[k * m + j];
                }
            }
            for (int k = 0; k < 4; k++) {
                out[(c + k) * rows + i] = s[k];
                if (has_next) out[(c + k) * rows + i + 1] = t[k];
            }
        }
    }
    return 0;
}
#endif
