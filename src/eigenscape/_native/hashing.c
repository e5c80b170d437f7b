/* Hashes of rows. */
#define SOURCE "hashing.c"
#define INDICES
#ifndef BODY
#include "native.h"

typedef uint64_t word4 __attribute__((vector_size(32)));

/* Mix the bits of a 64-bit integer, or of four; 0 remains 0. */
#define MIX_BITS(name, type) \
    static inline type name(type bits) { \
        bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9); \
        bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB); \
        return bits ^ (bits >> 31); \
    }
MIX_BITS(mix_bits, uint64_t)
MIX_BITS(mix_four, word4)

static inline word4 four_words(const uint64_t *x) {
    word4 out;
    memcpy(&out, x, sizeof(out));
    return out;
}

#include "each.h"
#else

/* column_multipliers(multipliers): write an odd number for each column. */
int64_t NAME(column_multipliers)(const argument *a) {
    uint64_t *multipliers = a[0].data;
    for (int64_t j = 0; j < a[0].size; j++) multipliers[j] = mix_bits((uint64_t)j + 1) | 1;
    return 0;
}

/* hash_dense(bits, multipliers, hashes): write to hashes (n,) the sums of the rows of bits (n, d), mixed and
 * multiplied by column. */
int64_t NAME(hash_dense)(const argument *a) {
    const uint64_t *bits = a[0].data, *multipliers = a[1].data;
    uint64_t *hashes = a[2].data;
    const int64_t n = a[0].shape[0], d = a[0].shape[1];
    REQUIRE_SHAPE(a[1].size == d && a[2].size == n);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *row = bits + i * d;
        word4 totals = {0};
        uint64_t total = 0;
        int64_t j = 0;
        for (; j + 7 <= d; j += 7) { /* a vector of four and three more keep all units of the processor busy */
            totals += mix_four(mix_four(four_words(row + j)) * four_words(multipliers + j));
            for (int t = 4; t < 7; t++) total += mix_bits(mix_bits(row[j + t]) * multipliers[j + t]);
        }
        total += totals[0] + totals[1] + totals[2] + totals[3];
        for (; j < d; j++) total += mix_bits(mix_bits(row[j]) * multipliers[j]);
        hashes[i] = total;
    }
    return 0;
}

/* hash_sparse(indptr, indices, bits, multipliers, hashes): write to hashes (n,) what hash_dense does, for the
 * stored values of a sparse matrix. */
int64_t NAME(hash_sparse)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const uint64_t *bits = a[2].data, *multipliers = a[3].data;
    uint64_t *hashes = a[4].data;
    const int64_t n = a[4].size, n_stored = a[1].size, n_columns = a[3].size;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[2].size == n_stored);
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = indptr[i], last = indptr[i + 1];
        REQUIRE_INDEX(first >= 0 && last <= n_stored);
        uint64_t total = 0;
        for (int64_t place = first; place < last; place++) {
            const int64_t j = indices[place];
            REQUIRE_INDEX(WITHIN(j, n_columns));
            total += mix_bits(mix_bits(bits[place]) * multipliers[j]);
        }
        hashes[i] = total;
    }
    return 0;
}
#endif
