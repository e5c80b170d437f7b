/* Checks of the rows of a sparse matrix; included within BODY, since they depend on INDEX. */

/* True if the entries start to end of a row lie within `size` entries. */
#define ROW_FITS(start, end, size) ((start) >= 0 && (start) <= (end) && (end) <= (size))

/* Rows that are checked, then read, at a time. */
#define CHECKED_ROWS 128

/* True if the rows first to last lie within `size` entries and their columns are below n. */
static inline int NAME(rows_fit)(const INDEX *restrict indptr, const INDEX *restrict indices, int64_t first,
                                 int64_t last, int64_t size, int64_t n) {
    int increases = indptr[first] >= 0 && indptr[last] <= size;
    for (int64_t r = first; r < last; r++) increases &= indptr[r] <= indptr[r + 1];
    if (!increases) return 0;
    INDEX lowest = 0, highest = -1;
    for (int64_t e = indptr[first]; e < indptr[last]; e++) {
        lowest = indices[e] < lowest ? indices[e] : lowest;
        highest = indices[e] > highest ? indices[e] : highest;
    }
    return lowest >= 0 && highest < n;
}

/* Add the entries e to end times numbers of x to sum, in their order; four a turn of the loop take less time. */
#define ADD_ENTRIES(sum, e, end, x)                                                                                    \
    for (; (e) + 4 <= (end); (e) += 4) {                                                                               \
        (sum) += data[e] * (x)[indices[e]];                                                                            \
        (sum) += data[(e) + 1] * (x)[indices[(e) + 1]];                                                                \
        (sum) += data[(e) + 2] * (x)[indices[(e) + 2]];                                                                \
        (sum) += data[(e) + 3] * (x)[indices[(e) + 3]];                                                                \
    }                                                                                                                  \
    for (; (e) < (end); (e)++) (sum) += data[e] * (x)[indices[e]];
