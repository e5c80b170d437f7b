/* Steps of conjugate gradients for a block of vectors, on blocks of rows that stay in the processor's cache.
 *
 * A block has four columns in almost all calls: the same code is compiled for four and for any number. */
#define SOURCE "gradients.c"
#ifndef BODY
#include "lanes.h"
#include "native.h"
#include "each.h"
#else

#define INLINE static inline __attribute__((always_inline))

/* Add the products of `some` columns of K from k on with Z to out; their sums stay in registers. */
INLINE void add_columns(const double *restrict K, const double *restrict Z, int64_t known, int64_t columns,
                        int64_t first, int64_t last, int64_t k, int some, double *restrict out) {
    for (int64_t c = 0; c < columns / PACKED * PACKED; c += PACKED) {
        PACK sums[4], values;
        for (int u = 0; u < some; u++) GET(sums[u], out + (k + u) * columns + c);
        for (int64_t i = first; i < last; i++) {
            GET(values, Z + i * columns + c);
            for (int u = 0; u < some; u++) sums[u] += K[i * known + k + u] * values;
        }
        for (int u = 0; u < some; u++) PUT(sums[u], out + (k + u) * columns + c);
    }
    for (int64_t c = columns / PACKED * PACKED; c < columns; c++)
        for (int64_t i = first; i < last; i++)
            for (int u = 0; u < some; u++) out[(k + u) * columns + c] += K[i * known + k + u] * Z[i * columns + c];
}

INLINE void add_products(const double *restrict K, const double *restrict Z, const double *restrict R,
                         const double *restrict S, int64_t known, int64_t columns, int64_t first, int64_t last,
                         double *restrict out) {
    for (int64_t start = first; start < last; start += 128) {
        const int64_t end = least(start + 128, last);
        int64_t k = 0;
        for (; k + 4 <= known; k += 4) add_columns(K, Z, known, columns, start, end, k, 4, out);
        for (; k < known; k++) add_columns(K, Z, known, columns, start, end, k, 1, out);
    }
    for (int64_t i = first; i < last; i++) {
        const double *z = Z + i * columns, *r = R + i * columns, *s = S + i * columns;
        for (int64_t c = 0; c < columns; c++) {
            out[known * columns + c] += z[c] * r[c];
            out[(known + 1) * columns + c] += z[c] * s[c];
        }
    }
}

INLINE void turn(const double *restrict K, const double *restrict Z, const double *restrict inside,
                 const double *restrict forward, int64_t known, int64_t columns, int64_t first, int64_t last,
                 double *restrict P) {
    for (int64_t i = first; i < last; i++) {
        double *p = P + i * columns;
        for (int64_t c = 0; c < columns; c++) p[c] = Z[i * columns + c] + p[c] * forward[c];
        for (int64_t k = 0; k < known; k++)
            for (int64_t c = 0; c < columns; c++) p[c] -= K[i * known + k] * inside[k * columns + c];
    }
}

INLINE void advance(const double *restrict K, const double *restrict P, double *restrict Q,
                    const double *restrict inside, const double *restrict length, int64_t known, int64_t columns,
                    int64_t first, int64_t last, double *restrict X, double *restrict R, double *restrict S,
                    double *restrict out) {
    for (int64_t i = first; i < last; i++) {
        double *q = Q + i * columns;
        for (int64_t k = 0; k < known; k++)
            for (int64_t c = 0; c < columns; c++) q[c] -= K[i * known + k] * inside[k * columns + c];
        for (int64_t c = 0; c < columns; c++) {
            const int64_t t = i * columns + c;
            X[t] += P[t] * length[c];
            S[t] = R[t];
            R[t] -= q[c] * length[c];
            out[c] += R[t] * R[t];
        }
    }
}

/* True if the shape of an array with two axes is (rows, columns). */
#define IS(one, rows, columns) ((one).shape[0] == (rows) && (one).shape[1] == (columns))

/* products_with(K, Z, R, S, first, last, out): add K'Z and the column products Z.R and Z.S of the rows first to last
 * to out. */
int64_t NAME(products_with)(const argument *a) {
    const int64_t n = a[0].shape[0], known = a[0].shape[1], columns = a[1].shape[1], first = a[4].n, last = a[5].n;
    REQUIRE_SHAPE(a[1].shape[0] == n && IS(a[2], n, columns) && IS(a[3], n, columns) && IS(a[6], known + 2, columns));
    REQUIRE_SHAPE(first >= 0 && last <= n);
    if (columns == 4) add_products(a[0].data, a[1].data, a[2].data, a[3].data, known, 4, first, last, a[6].data);
    else add_products(a[0].data, a[1].data, a[2].data, a[3].data, known, columns, first, last, a[6].data);
    return 0;
}

/* next_direction(K, Z, inside, forward, first, last, P): replace P by Z - K inside + P diag(forward) in the rows first
 * to last. */
int64_t NAME(next_direction)(const argument *a) {
    const int64_t n = a[0].shape[0], known = a[0].shape[1], columns = a[1].shape[1], first = a[4].n, last = a[5].n;
    REQUIRE_SHAPE(a[1].shape[0] == n && IS(a[2], known, columns) && a[3].size == columns && IS(a[6], n, columns));
    REQUIRE_SHAPE(first >= 0 && last <= n);
    if (columns == 4) turn(a[0].data, a[1].data, a[2].data, a[3].data, known, 4, first, last, a[6].data);
    else turn(a[0].data, a[1].data, a[2].data, a[3].data, known, columns, first, last, a[6].data);
    return 0;
}

/* subtract_scaled(P, values, first, last, Q): subtract P diag(values) from Q in the rows first to last. */
int64_t NAME(subtract_scaled)(const argument *a) {
    const double *restrict P = a[0].data, *restrict values = a[1].data;
    double *restrict Q = a[4].data;
    const int64_t n = a[0].shape[0], columns = a[0].shape[1], first = a[2].n, last = a[3].n;
    REQUIRE_SHAPE(a[1].size == columns && IS(a[4], n, columns) && first >= 0 && last <= n);
    for (int64_t i = first; i < last; i++)
        for (int64_t c = 0; c < columns; c++) Q[i * columns + c] -= P[i * columns + c] * values[c];
    return 0;
}

/* advance_solution(K, P, Q, inside, length, first, last, X, R, S, out): add P diag(length) to X, subtract K inside
 * from Q and Q diag(length) from R, in the rows first to last.
 *
 * S becomes the former R; the column products R.R are added to out. */
int64_t NAME(advance_solution)(const argument *a) {
    const int64_t n = a[0].shape[0], known = a[0].shape[1], columns = a[1].shape[1], first = a[5].n, last = a[6].n;
    REQUIRE_SHAPE(a[1].shape[0] == n && IS(a[2], n, columns) && IS(a[3], known, columns) && a[4].size == columns);
    REQUIRE_SHAPE(IS(a[7], n, columns) && IS(a[8], n, columns) && IS(a[9], n, columns) && a[10].size == columns);
    REQUIRE_SHAPE(first >= 0 && last <= n);
    if (columns == 4)
        advance(a[0].data, a[1].data, a[2].data, a[3].data, a[4].data, known, 4, first, last, a[7].data, a[8].data,
                a[9].data, a[10].data);
    else
        advance(a[0].data, a[1].data, a[2].data, a[3].data, a[4].data, known, columns, first, last, a[7].data,
                a[8].data, a[9].data, a[10].data);
    return 0;
}

/* divide_columns(B, scale, first, last, out): write B diag(scale)^-1 to the rows first to last of out. */
int64_t NAME(divide_columns)(const argument *a) {
    const double *restrict B = a[0].data, *restrict scale = a[1].data;
    float *restrict out = a[4].data;
    const int64_t n = a[0].shape[0], columns = a[0].shape[1], first = a[2].n, last = a[3].n;
    REQUIRE_SHAPE(a[1].size == columns && IS(a[4], n, columns) && first >= 0 && last <= n);
    for (int64_t i = first; i < last; i++)
        for (int64_t c = 0; c < columns; c++) out[i * columns + c] = (float)(B[i * columns + c] / scale[c]);
    return 0;
}

/* multiply_columns(B, scale, first, last, out): write B diag(scale) to the rows first to last of out, which may have
 * fewer columns than B. */
int64_t NAME(multiply_columns)(const argument *a) {
    const float *restrict B = a[0].data;
    const double *restrict scale = a[1].data;
    double *restrict out = a[4].data;
    const int64_t n = a[0].shape[0], width = a[0].shape[1], columns = a[4].shape[1], first = a[2].n, last = a[3].n;
    REQUIRE_SHAPE(a[1].size == columns && columns <= width && a[4].shape[0] == n && first >= 0 && last <= n);
    for (int64_t i = first; i < last; i++)
        for (int64_t c = 0; c < columns; c++) out[i * columns + c] = B[i * width + c] * scale[c];
    return 0;
}
#endif
