/* Shortest paths from several sources at once: their number, and minima of sums. */
#ifndef EIGENSCAPE_PATHS_H
#define EIGENSCAPE_PATHS_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

/* Sources searched together: if they are close to each other, one visit of a vertex serves all. */
#define LANES 16

/* The smaller of two numbers, `best` if they are equal: one instruction of the processor. */
#define LESS(value, best) ((value) < (best) ? (value) : (best))

/* As many numbers as a register holds. Nothing is summed over them, so that their number changes no result. */
#ifdef __AVX__
#define VECTOR 4
typedef double vector __attribute__((vector_size(32)));
static inline vector same(double x) { return (vector){x, x, x, x}; }
static inline vector smaller(vector value, vector best) { return (vector)_mm256_min_pd((__m256d)value, (__m256d)best); }
#else
#define VECTOR 2
typedef double vector __attribute__((vector_size(16)));
static inline vector same(double x) { return (vector){x, x}; }
#ifdef __SSE2__
static inline vector smaller(vector value, vector best) { return (vector)_mm_min_pd((__m128d)value, (__m128d)best); }
#else
static inline vector smaller(vector value, vector best) {
    return (vector){LESS(value[0], best[0]), LESS(value[1], best[1])};
}
#endif
#endif

static inline vector get(const double *x) {
    vector out;
    memcpy(&out, x, sizeof(out));
    return out;
}

static inline void put(double *x, vector value) { memcpy(x, &value, sizeof(value)); }

/* Numbers of single precision as doubles. */
static inline vector get_single(const float *x) {
    typedef float singles __attribute__((vector_size(4 * VECTOR)));
    singles out;
    memcpy(&out, x, sizeof(out));
    return __builtin_convertvector(out, vector);
}

/* Numbers of type REAL as doubles. */
#define GET(x) _Generic((x), const float *: get_single, default: get)(x)

/* Comparisons of two vectors: all bits of a number are set where it holds. */
typedef int64_t mask __attribute__((vector_size(8 * VECTOR)));

static inline int any(mask which) {
#if defined(__AVX__)
    return _mm256_movemask_pd((__m256d)which) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_pd((__m128d)which) != 0;
#else
    return (which[0] | which[1]) != 0;
#endif
}

/* Columns of a strip, whose minima stay in the processor's registers. */
#define STRIP (8 * VECTOR)

/* best[x] = min(best[x], w0 + r0[x], ..., w3 + r3[x]) for n columns: to read and write `best` for each of the four
 * rows would take most of the time. */
static inline void shortest_of_four(double *restrict best, const double *r0, const double *r1, const double *r2,
                                    const double *r3, double w0, double w1, double w2, double w3, int64_t n) {
    for (int64_t x = 0; x < n; x++) {
        double d = best[x];
        d = LESS(r0[x] + w0, d);
        d = LESS(r1[x] + w1, d);
        d = LESS(r2[x] + w2, d);
        best[x] = LESS(r3[x] + w3, d);
    }
}

/* out[x] = min(out[x], min_i length[i] + rows[via[i], x]) for left <= x < right, where rows have `width` columns
 * and `out` is none of them. Strip by strip; of the columns that remain, four rows at a time, the last again if
 * fewer remain. */
static inline void shortest_of_rows(const double *rows, int64_t width, const int64_t *via, const double *length,
                                    int64_t count, double *out, int64_t left, int64_t right) {
    if (count == 0) return;
    for (; right - left >= STRIP; left += STRIP) {
        vector best[8];
        for (int k = 0; k < 8; k++) best[k] = get(out + left + VECTOR * k);
        for (int64_t i = 0; i < count; i++) {
            const double *row = rows + via[i] * width + left;
            const vector w = same(length[i]);
            for (int k = 0; k < 8; k++) best[k] = smaller(get(row + VECTOR * k) + w, best[k]);
        }
        for (int k = 0; k < 8; k++) put(out + left + VECTOR * k, best[k]);
    }
    if (left >= right) return;
    rows += left;
    for (int64_t i = 0; i < count; i += 4) {
        const int64_t j = i + 1 < count ? i + 1 : i, k = i + 2 < count ? i + 2 : j, l = i + 3 < count ? i + 3 : k;
        shortest_of_four(out + left, rows + via[i] * width, rows + via[j] * width, rows + via[k] * width,
                         rows + via[l] * width, length[i], length[j], length[k], length[l], right - left);
    }
}

#endif
