/* A sparse matrix times a block of vectors. */
#define SOURCE "products.c"
#define REALS
#define INDICES
#ifndef BODY
#include "lanes.h"
#include "native.h"

/* Write the sums of `count` packs of columns from column c on: the entries of row r times rows of V. */
#define SUM_PACKS(count)                                                                                               \
    for (; c + PACKED * (count) <= columns; c += PACKED * (count)) {                                                   \
        PACK sums[count] = {{0}}, values;                                                                              \
        for (int64_t e = indptr[r]; e < indptr[r + 1]; e++) {                                                          \
            for (int k = 0; k < (count); k++) {                                                                        \
                GET(values, V + indices[e] * columns + c + PACKED * k);                                                \
                sums[k] += data[e] * values;                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        for (int k = 0; k < (count); k++) PUT(sums[k], out + r * columns + c + PACKED * k);                            \
    }

#include "each.h"
#else
#include "sparse_rows.h"

/* multiply_rows(indptr, indices, data, V, first, last, out): write A V to the rows first to last of out. The sums of
 * several columns stay in registers. */
int64_t NAME(multiply_rows)(const argument *a) {
    const INDEX *restrict indptr = a[0].data, *restrict indices = a[1].data;
    const REAL *restrict data = a[2].data, *restrict V = a[3].data;
    const int64_t n = a[3].shape[0], columns = a[3].shape[1], first = a[4].n, last = a[5].n;
    REAL *restrict out = a[6].data;
    REQUIRE_SHAPE(a[1].size == a[2].size && a[0].size == a[6].shape[0] + 1 && a[6].shape[1] == columns);
    REQUIRE_SHAPE(first >= 0 && last <= a[6].shape[0]);
    for (int64_t block = first; block < last; block += CHECKED_ROWS) {
        const int64_t end = least(block + CHECKED_ROWS, last);
        REQUIRE_INDEX(NAME(rows_fit)(indptr, indices, block, end, a[1].size, n));
        for (int64_t r = block; r < end && columns == 1; r++) {
            REAL sum = 0;
            int64_t e = indptr[r];
            const int64_t stop = indptr[r + 1];
            ADD_ENTRIES(sum, e, stop, V)
            out[r] = sum;
        }
        for (int64_t r = block; r < end && columns > 1; r++) {
            int64_t c = 0;
            SUM_PACKS(4)
            SUM_PACKS(2)
            SUM_PACKS(1)
            for (; c < columns; c++) {
                REAL sum = 0;
                for (int64_t e = indptr[r]; e < indptr[r + 1]; e++) sum += data[e] * V[indices[e] * columns + c];
                out[r * columns + c] = sum;
            }
        }
    }
    return 0;
}
#endif
