/* Multilevel hierarchy of a sparse matrix: order, groups, products of matrices, and smoothing steps. */
#define SOURCE "hierarchy.c"
#define REALS
#define INDICES
#ifndef BODY
#include "lanes.h"
#include "native.h"
#include "each.h"
#else
#include "sparse_rows.h"

/* reorder_rows(indptr, indices, data, order, rank, first, last, out_indptr, out_indices, out_data): write the rows
 * first to last of A[order][:, order]; rank is the inverse order. */
int64_t NAME(reorder_rows)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data, *order = a[3].data, *rank = a[4].data;
    const INDEX *out_indptr = a[7].data;
    const REAL *data = a[2].data;
    const int64_t size = a[2].size, n = a[3].size, first = a[5].n, last = a[6].n;
    INDEX *restrict out_indices = a[8].data;
    REAL *restrict out_data = a[9].data;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[1].size == size && a[4].size == n && first >= 0 && last <= n);
    REQUIRE_SHAPE(a[7].size == n + 1 && a[8].size == size && a[9].size == size);
    for (int64_t r = first; r < last; r++) {
        const int64_t i = order[r], at = out_indptr[r];
        REQUIRE_INDEX(WITHIN(i, n));
        const int64_t start = indptr[i], end = indptr[i + 1];
        REQUIRE_INDEX(ROW_FITS(start, end, size) && at >= 0 && at <= size - (end - start));
        for (int64_t e = start; e < end; e++) {
            REQUIRE_INDEX(WITHIN(indices[e], n));
            out_indices[at + e - start] = rank[indices[e]];
            out_data[at + e - start] = data[e];
        }
    }
    return 0;
}

/* group_vertices(indptr, indices, data, strength, group): partition the vertices into a root and its neighbours each;
 * answer the number of groups.
 *
 * Roots are chosen in the order of the vertices, none a neighbour of another; the others join the root to which they
 * have the strongest edge. Edges weaker than strength times the strongest of a vertex are left out. Vertices without
 * such an edge to a root have the group -1. */
int64_t NAME(group_vertices)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const REAL *data = a[2].data;
    const double strength = a[3].x;
    const int64_t n = a[4].size;
    int32_t *group = a[4].data;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[1].size == a[2].size && n <= INT32_MAX);
    int32_t count = 0;
    for (int64_t i = 0; i < n; i++) group[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t start = indptr[i], end = indptr[i + 1];
        REQUIRE_INDEX(ROW_FITS(start, end, a[2].size));
        REAL limit = 0;
        for (int64_t e = start; e < end; e++) {
            REQUIRE_INDEX(WITHIN(indices[e], n));
            const REAL weight = indices[e] == i ? 0 : (REAL)fabs((double)data[e]);
            limit = weight > limit ? weight : limit;
        }
        limit = (REAL)(limit * strength);
        int is_root = 1; /* group[i] is still -1, so that the entry on the diagonal does not count */
        for (int64_t e = start; e < end && is_root; e++)
            is_root = !((fabs((double)data[e]) >= limit) & (group[indices[e]] >= 0));
        if (is_root) group[i] = count++;
    }
    for (int64_t i = 0; i < n; i++) { /* -2 - g stands for the group g that i joins, so that i is not a root */
        double strongest = 0;
        if (group[i] >= 0) continue;
        int32_t joined = -1;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; e++) {
            const int32_t root = group[indices[e]];
            const double weight = fabs((double)data[e]);
            const int is_stronger = (root >= 0) & (weight > strongest);
            strongest = is_stronger ? weight : strongest;
            joined = is_stronger ? -2 - root : joined;
        }
        group[i] = joined;
    }
    for (int64_t i = 0; i < n; i++)
        if (group[i] < -1) group[i] = -2 - group[i];
    return count;
}

/* product_size(a_indptr, a_indices, b_indptr, first, last): answer the number of products of entries in the rows
 * first to last of A B, at least the number of its entries there. */
int64_t NAME(product_size)(const argument *a) {
    const INDEX *a_indptr = a[0].data, *a_indices = a[1].data, *b_indptr = a[2].data;
    const int64_t n = a[2].size - 1, first = a[3].n, last = a[4].n;
    REQUIRE_SHAPE(n >= 0 && first >= 0 && first <= last && last < a[0].size);
    const int64_t start = a_indptr[first], end = a_indptr[last];
    REQUIRE_INDEX(ROW_FITS(start, end, a[1].size));
    int64_t size = 0;
    for (int64_t e = start; e < end; e++) {
        const int64_t j = a_indices[e];
        REQUIRE_INDEX(WITHIN(j, n) && b_indptr[j] >= 0 && b_indptr[j] <= b_indptr[j + 1]);
        const int64_t added = b_indptr[j + 1] - b_indptr[j];
        REQUIRE_INDEX(added <= INT64_MAX - size);
        size += added;
    }
    return size;
}

/* multiply_sparse(a_indptr, a_indices, a_data, b_indptr, b_indices, b_data, n_columns, first, last, count, indices,
 * data): write the rows first to last of A B: the numbers of their entries, columns and values; answer the number of
 * all entries. indices and data have room for product_size of them. */
int64_t NAME(multiply_sparse)(const argument *a) {
    const INDEX *restrict a_indptr = a[0].data, *restrict a_indices = a[1].data;
    const INDEX *restrict b_indptr = a[3].data, *restrict b_indices = a[4].data;
    const double *restrict a_data = a[2].data, *restrict b_data = a[5].data;
    const int64_t n = a[3].size - 1, n_columns = a[6].n, first = a[7].n, last = a[8].n, capacity = a[10].size;
    int64_t *count = a[9].data;
    INDEX *restrict indices = a[10].data;
    double *restrict data = a[11].data;
    REQUIRE_SHAPE(a[1].size == a[2].size && a[4].size == a[5].size && a[11].size == capacity && n >= 0);
    REQUIRE_SHAPE(first >= 0 && first <= last && last < a[0].size && a[9].size == last - first && n_columns >= 0);
    int64_t *restrict place = room(n_columns, sizeof(int64_t)); /* of the entry of each column in the current row */
    if (!place) return NO_MEMORY;
    for (int64_t c = 0; c < n_columns; c++) place[c] = -1;
    int64_t used = 0, answer = BAD_INDEX;
    for (int64_t i = first; i < last; i++) {
        const int64_t begin = used, start = a_indptr[i], end = a_indptr[i + 1];
        if (!ROW_FITS(start, end, a[1].size)) goto done;
        for (int64_t e = start; e < end; e++) {
            const int64_t j = a_indices[e];
            if (!WITHIN(j, n)) goto done;
            const double value = a_data[e];
            const int64_t b_start = b_indptr[j], b_end = b_indptr[j + 1];
            if (!ROW_FITS(b_start, b_end, a[4].size)) goto done;
            for (int64_t f = b_start; f < b_end; f++) {
                const int64_t c = b_indices[f];
                if (!WITHIN(c, n_columns)) goto done;
                if (place[c] < begin) {
                    if (used == capacity) { answer = BAD_SHAPE; goto done; }
                    place[c] = used;
                    indices[used] = (INDEX)c;
                    data[used++] = value * b_data[f];
                } else {
                    data[place[c]] += value * b_data[f];
                }
            }
        }
        count[i - first] = used - begin;
    }
    answer = used;
done:
    free(place);
    return answer;
}

/* smooth_rows(indptr, indices, data, group, values, step): replace B = A P0 by P0 - diag(step) B; P0 has values[i] in
 * column group[i]. */
int64_t NAME(smooth_rows)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const int32_t *group = a[3].data;
    const double *values = a[4].data, *step = a[5].data;
    double *restrict data = a[2].data;
    const int64_t n = a[3].size;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[1].size == a[2].size && a[4].size == n && a[5].size == n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t start = indptr[i], end = indptr[i + 1];
        REQUIRE_INDEX(ROW_FITS(start, end, a[2].size));
        for (int64_t e = start; e < end; e++) {
            data[e] *= -step[i];
            if (indices[e] == group[i]) data[e] += values[i];
        }
    }
    return 0;
}

/* first_residual(indptr, indices, data, step, B, first, last, out): write B - A diag(step) B to the rows first to last
 * of out, the residual after one step from zero. Blocks of vectors have a multiple of four columns. */
int64_t NAME(first_residual)(const argument *a) {
    const INDEX *restrict indptr = a[0].data, *restrict indices = a[1].data;
    const REAL *restrict data = a[2].data, *restrict step = a[3].data, *restrict B = a[4].data;
    const int64_t n = a[4].shape[0], columns = a[4].shape[1], first = a[5].n, last = a[6].n;
    REAL *restrict out = a[7].data;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[1].size == a[2].size && a[3].size == n && columns % 4 == 0);
    REQUIRE_SHAPE(a[7].shape[0] == n && a[7].shape[1] == columns && first >= 0 && last <= n);
    for (int64_t r = first; r < last; r++) {
        const int64_t start = indptr[r], end = indptr[r + 1];
        REQUIRE_INDEX(ROW_FITS(start, end, a[2].size));
        for (int64_t c = 0; c < columns; c += PACKED) {
            PACK sum, values;
            GET(sum, B + r * columns + c);
            for (int64_t e = start; e < end; e++) {
                const int64_t j = indices[e];
                REQUIRE_INDEX(WITHIN(j, n));
                const REAL weight = data[e] * step[j];
                GET(values, B + j * columns + c);
                sum -= weight * values;
            }
            PUT(sum, out + r * columns + c);
        }
    }
    return 0;
}

/* correct_rows(indptr, indices, data, step, B, Y, first, last, out): write diag(step) B + P Y to the rows first to last
 * of out. */
int64_t NAME(correct_rows)(const argument *a) {
    const INDEX *restrict indptr = a[0].data, *restrict indices = a[1].data;
    const REAL *restrict data = a[2].data, *restrict step = a[3].data, *restrict B = a[4].data, *restrict Y = a[5].data;
    const int64_t n = a[4].shape[0], columns = a[4].shape[1], coarse = a[5].shape[0], first = a[6].n, last = a[7].n;
    REAL *restrict out = a[8].data;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[1].size == a[2].size && a[3].size == n && columns % 4 == 0);
    REQUIRE_SHAPE(a[5].shape[1] == columns && a[8].shape[0] == n && a[8].shape[1] == columns);
    REQUIRE_SHAPE(first >= 0 && last <= n);
    for (int64_t r = first; r < last; r++) {
        const int64_t start = indptr[r], end = indptr[r + 1];
        REQUIRE_INDEX(ROW_FITS(start, end, a[2].size));
        for (int64_t c = 0; c < columns; c += PACKED) {
            PACK sum, values;
            GET(values, B + r * columns + c);
            sum = step[r] * values;
            for (int64_t e = start; e < end; e++) {
                const int64_t j = indices[e];
                REQUIRE_INDEX(WITHIN(j, coarse));
                GET(values, Y + j * columns + c);
                sum += data[e] * values;
            }
            PUT(sum, out + r * columns + c);
        }
    }
    return 0;
}

/* relax_rows(indptr, indices, data, step, B, X, first, last, out): write X + diag(step) (B - A X) to the rows first to
 * last of out. */
int64_t NAME(relax_rows)(const argument *a) {
    const INDEX *restrict indptr = a[0].data, *restrict indices = a[1].data;
    const REAL *restrict data = a[2].data, *restrict step = a[3].data, *restrict B = a[4].data, *restrict X = a[5].data;
    const int64_t n = a[4].shape[0], columns = a[4].shape[1], first = a[6].n, last = a[7].n;
    REAL *restrict out = a[8].data;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[1].size == a[2].size && a[3].size == n && columns % 4 == 0);
    REQUIRE_SHAPE(a[5].shape[0] == n && a[5].shape[1] == columns && a[8].shape[0] == n && a[8].shape[1] == columns);
    REQUIRE_SHAPE(first >= 0 && last <= n);
    for (int64_t r = first; r < last; r++) {
        const int64_t start = indptr[r], end = indptr[r + 1];
        REQUIRE_INDEX(ROW_FITS(start, end, a[2].size));
        for (int64_t c = 0; c < columns; c += PACKED) {
            PACK sum, values;
            GET(sum, B + r * columns + c);
            for (int64_t e = start; e < end; e++) {
                const int64_t j = indices[e];
                REQUIRE_INDEX(WITHIN(j, n));
                GET(values, X + j * columns + c);
                sum -= data[e] * values;
            }
            GET(values, X + r * columns + c);
            sum = values + step[r] * sum;
            PUT(sum, out + r * columns + c);
        }
    }
    return 0;
}
#endif
