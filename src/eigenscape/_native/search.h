/* What searches share: distances in double precision, and short lists ordered by value. */
#ifndef EIGENSCAPE_SEARCH_H
#define EIGENSCAPE_SEARCH_H

#include "lanes.h"
#include "native.h"

/* Defines |y - x|^2 in double precision for x of one type, with sixteen partial sums in a fixed order. */
#define DEFINE_SQUARED_DISTANCE(name, type)                                                                   \
    static inline double name(const double *y, const type *x, int64_t d) {                                    \
        double4 a = {0}, b = {0}, c = {0}, e = {0};                                                           \
        int64_t f = 0;                                                                                        \
        for (; f + 16 <= d; f += 16) {                                                                        \
            const double4 p = four_doubles(y + f) - FOUR(x + f);                                              \
            const double4 q = four_doubles(y + f + 4) - FOUR(x + f + 4);                                      \
            const double4 r = four_doubles(y + f + 8) - FOUR(x + f + 8);                                      \
            const double4 s = four_doubles(y + f + 12) - FOUR(x + f + 12);                                    \
            a += p * p;                                                                                       \
            b += q * q;                                                                                       \
            c += r * r;                                                                                       \
            e += s * s;                                                                                       \
        }                                                                                                     \
        for (; f + 4 <= d; f += 4) {                                                                          \
            const double4 p = four_doubles(y + f) - FOUR(x + f);                                              \
            a += p * p;                                                                                       \
        }                                                                                                     \
        double total = d < 4 ? 0 : sum_lanes((a + b) + (c + e));                                              \
        for (; f < d; f++) {                                                                                  \
            const double offset = y[f] - x[f];                                                                \
            total += offset * offset;                                                                         \
        }                                                                                                     \
        return total;                                                                                         \
    }
DEFINE_SQUARED_DISTANCE(squared_distance_of_doubles, double)
DEFINE_SQUARED_DISTANCE(squared_distance_of_floats, float)
/* |y - x|^2 of a row y of doubles and a row x of doubles or floats. */
#define SQUARED_DISTANCE(y, x, d) \
    _Generic((x), const float *: squared_distance_of_floats, default: squared_distance_of_doubles)(y, x, d)

/* |x|^2 in double precision. */
static inline double squared_norm(const float *x, int64_t d) {
    double4 a = {0}, b = {0}, c = {0}, e = {0};
    int64_t f = 0;
    for (; f + 16 <= d; f += 16) {
        const double4 p = four_floats(x + f), q = four_floats(x + f + 4);
        const double4 r = four_floats(x + f + 8), s = four_floats(x + f + 12);
        a += p * p;
        b += q * q;
        c += r * r;
        e += s * s;
    }
    for (; f + 4 <= d; f += 4) a += four_floats(x + f) * four_floats(x + f);
    double total = d < 4 ? 0 : sum_lanes((a + b) + (c + e));
    for (; f < d; f++) total += (double)x[f] * x[f];
    return total;
}

/* Whether number i is before number j: by their ranks, or by the numbers themselves if there are no ranks or -1 stands
 * for no number. */
static inline int is_before(const int64_t *rank, int64_t i, int64_t j) {
    return rank && i >= 0 && j >= 0 ? rank[i] < rank[j] : i < j;
}

/* Insert a value into a list sorted by value and then by the rank of the number, of at most k; return the length of the
 * list. */
static inline int64_t insert_ordered(double *length, int64_t *number, int64_t k, int64_t filled, double value,
                                     int64_t j, const int64_t *rank) {
    int64_t t;
    if (filled < k) t = filled++;
    else if (value < length[k - 1] || (value == length[k - 1] && is_before(rank, j, number[k - 1]))) t = k - 1;
    else return filled;
    for (; t > 0 && (length[t - 1] > value || (length[t - 1] == value && is_before(rank, j, number[t - 1]))); t--) {
        length[t] = length[t - 1];
        number[t] = number[t - 1];
    }
    length[t] = value;
    number[t] = j;
    return filled;
}

#endif
