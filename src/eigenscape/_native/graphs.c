/* Neighbour lists to the compressed rows of a graph: sorting, transposition, union, breadth-first search. */
#define SOURCE "graphs.c"
#define REALS
#define INDICES
#ifndef BODY
#include "native.h"
#include "each.h"
#else

/* sorted_lists(length, number, shortest, indices, data): write the lists (n, k) in the order of their numbers.
 *
 * data[i k + t] = max(length[i, s], shortest) and indices[i k + t] = number[i, s], where s is the place of the
 * t-th smallest number of row i. */
int64_t NAME(sorted_lists)(const argument *a) {
    const double *length = a[0].data;
    const INDEX *number = a[1].data;
    const double shortest = a[2].x;
    INDEX *restrict indices = a[3].data;
    double *restrict data = a[4].data;
    const int64_t n = a[0].shape[0], k = a[0].shape[1];
    REQUIRE_SHAPE(a[1].shape[0] == n && a[1].shape[1] == k && a[3].size == n * k && a[4].size == n * k);
    for (int64_t start = 0; start < n * k; start += k) {
        for (int64_t s = start; s < start + k; s++) {
            const double value = length[s];
            const INDEX j = number[s];
            int64_t t = s;
            for (; t > start && indices[t - 1] > j; t--) {
                indices[t] = indices[t - 1];
                data[t] = data[t - 1];
            }
            indices[t] = j;
            data[t] = shortest > value ? shortest : value;
        }
    }
    return 0;
}

/* transpose_columns(indptr, indices, data, first, last, place, out_indices, out_data): write the columns first
 * to last of a matrix as rows, from place[j] on, sorted by row; place is advanced to the end of each. */
int64_t NAME(transpose_columns)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const REAL *data = a[2].data;
    const int64_t n = a[0].size - 1, stored = a[1].size, first = a[3].n, last = a[4].n, room = a[6].size;
    INDEX *place = a[5].data, *out_indices = a[6].data;
    REAL *out_data = a[7].data;
    REQUIRE_SHAPE(n >= 0 && a[2].size == stored && a[7].size == room && first >= 0 && first <= last);
    REQUIRE_SHAPE(last <= a[5].size);
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = indptr[i], end = indptr[i + 1];
        REQUIRE_INDEX(begin >= 0 && begin <= end && end <= stored);
        for (int64_t e = begin; e < end; e++) {
            const int64_t j = indices[e];
            if (j < first || j >= last) continue;
            const int64_t at = place[j];
            REQUIRE_INDEX(WITHIN(at, room));
            out_indices[at] = (INDEX)i;
            out_data[at] = data[e];
            place[j] = (INDEX)(at + 1);
        }
    }
    return 0;
}

/* breadth_first(indptr, indices, start, order, depth, widest): search from start; write the vertices to order as
 * they are found, and their depth, which is negative for vertices not found, before and after.
 *
 * Answers the number of vertices found; the largest number at the same depth is written to widest. */
int64_t NAME(breadth_first)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const int64_t start = a[2].n, m = a[3].size, stored = a[1].size;
    int32_t *order = a[3].data, *depth = a[4].data;
    int64_t *widest = a[5].data;
    REQUIRE_SHAPE(a[0].size == m + 1 && a[4].size == m && a[5].size == 1 && m <= INT32_MAX);
    REQUIRE_INDEX(WITHIN(start, m));
    depth[start] = 0;
    order[0] = (int32_t)start;
    int64_t found = 1, most_found = 1, level_start = 0;
    int32_t level = 0;
    for (int64_t place = 0; place < found; place++) {
        const int64_t i = order[place], begin = indptr[i], end = indptr[i + 1];
        REQUIRE_INDEX(begin >= 0 && begin <= end && end <= stored);
        if (depth[i] > level) {
            level = depth[i];
            level_start = place;
        }
        for (int64_t e = begin; e < end; e++) {
            const int64_t j = indices[e];
            REQUIRE_INDEX(WITHIN(j, m));
            if (depth[j] >= 0) continue;
            depth[j] = level + 1;
            order[found++] = (int32_t)j;
        }
        /* The level after this one is complete when the last vertex of this one has been visited. */
        most_found = most(most_found, place + 1 - level_start);
    }
    *widest = most_found;
    return found;
}

/* count_union(indptr, indices, other_indptr, other_indices, first, last, count): write to count[i] the number of
 * columns that either of two matrices stores in row i, for rows first to last. */
int64_t NAME(count_union)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data, *other_indptr = a[2].data, *other_indices = a[3].data;
    const int64_t first = a[4].n, last = a[5].n, n = a[6].size;
    INDEX *count = a[6].data;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[2].size == n + 1 && first >= 0 && first <= last && last <= n);
    for (int64_t i = first; i < last; i++) {
        int64_t p = indptr[i], q = other_indptr[i], both = 0;
        const int64_t p_end = indptr[i + 1], q_end = other_indptr[i + 1];
        REQUIRE_INDEX(p >= 0 && p <= p_end && p_end <= a[1].size && q >= 0 && q <= q_end && q_end <= a[3].size);
        const int64_t all = p_end - p + q_end - q;
        while (p < p_end && q < q_end) {
            const INDEX j = indices[p], other = other_indices[q];
            both += j == other;
            p += j <= other;
            q += other <= j;
        }
        count[i] = (INDEX)(all - both);
    }
    return 0;
}

/* merge_rows(indptr, indices, data, other_indptr, other_indices, other_data, first, last, out_indptr, out_indices,
 * out_data): write the rows first to last of the union of two matrices with sorted rows. An entry that both store
 * is the larger of the two. */
int64_t NAME(merge_rows)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data, *other_indptr = a[3].data, *other_indices = a[4].data;
    const double *data = a[2].data, *other_data = a[5].data;
    const int64_t first = a[6].n, last = a[7].n, n = a[8].size - 1;
    const INDEX *out_indptr = a[8].data;
    INDEX *out_indices = a[9].data;
    double *out_data = a[10].data;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[3].size == n + 1 && first >= 0 && first <= last && last <= n);
    REQUIRE_SHAPE(a[1].size == a[2].size && a[4].size == a[5].size && a[9].size == a[10].size);
    for (int64_t i = first; i < last; i++) {
        int64_t p = indptr[i], q = other_indptr[i], at = out_indptr[i];
        const int64_t p_end = indptr[i + 1], q_end = other_indptr[i + 1], end = out_indptr[i + 1];
        REQUIRE_INDEX(p >= 0 && p <= p_end && p_end <= a[1].size && q >= 0 && q <= q_end && q_end <= a[4].size);
        REQUIRE_INDEX(at >= 0 && at <= end && end <= a[9].size);
        while (p < p_end && q < q_end) {
            const INDEX j = indices[p], other = other_indices[q];
            const double value = data[p], other_value = other_data[q];
            const double larger = other_value > value ? other_value : value;
            REQUIRE_INDEX(at < end);
            out_indices[at] = j < other ? j : other;
            out_data[at++] = j < other ? value : other < j ? other_value : larger;
            p += j <= other;
            q += other <= j;
        }
        REQUIRE_INDEX(p_end - p + q_end - q <= end - at);
        for (; p < p_end; p++, at++) {
            out_indices[at] = indices[p];
            out_data[at] = data[p];
        }
        for (; q < q_end; q++, at++) {
            out_indices[at] = other_indices[q];
            out_data[at] = other_data[q];
        }
    }
    return 0;
}
#endif
