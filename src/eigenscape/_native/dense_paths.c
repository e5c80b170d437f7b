/* Distances between all vertices of a graph with many edges, in a dense matrix, block by block.
 *
 * The vertices are eliminated in the order of their numbers, which fills the upper triangle; then the distances
 * follow from the last to the first, d(v, x) = min_u w(v, u) + d(u, x) over the edges of v to later vertices. Each
 * distance is computed once, for the matrix is symmetric. */
#include "native.h"
#include "paths.h"

#define TYPES ddl

/* eliminate_within(w, begin, end): eliminate the vertices begin <= v < end, but update only the edges of these. */
int64_t NAME(eliminate_within)(const argument *a) {
    double *w = a[0].data;
    const int64_t m = a[0].shape[0], begin = a[1].n, end = a[2].n;
    REQUIRE_SHAPE(a[0].shape[1] == m && begin >= 0 && begin <= end && end <= m);
    int64_t *via = room(end - begin, sizeof(int64_t));
    double *length = room(end - begin, sizeof(double));
    if (!via || !length) {
        free(via);
        free(length);
        return NO_MEMORY;
    }
    for (int64_t u = begin + 1; u < end; u++) {
        int64_t count = 0;
        for (int64_t v = begin; v < u; v++) {
            if (w[v * m + u] < INFINITY) {
                via[count] = v;
                length[count++] = w[v * m + u];
            }
        }
        shortest_of_rows(w, m, via, length, count, w + u * m, u + 1, m);
    }
    free(via);
    free(length);
    return 0;
}

/* eliminate_from(w, begin, end, first, last, tile): update the edges of the vertices first <= u < last after the
 * elimination of an earlier block, w(u, x) = min(w(u, x), w(v, u) + w(v, x)) for begin <= v < end and x > u. */
int64_t NAME(eliminate_from)(const argument *a) {
    double *w = a[0].data;
    const int64_t m = a[0].shape[0], begin = a[1].n, end = a[2].n, first = a[3].n, last = a[4].n, tile = a[5].n;
    REQUIRE_SHAPE(a[0].shape[1] == m && begin >= 0 && begin <= end && end <= first && first <= last && last <= m);
    REQUIRE_SHAPE(tile > 0);
    const int64_t rows = last - first, block = end - begin;
    int64_t *via = room(rows * block, sizeof(int64_t)), *count = room(rows, sizeof(int64_t));
    double *length = room(rows * block, sizeof(double));
    if (!via || !count || !length) {
        free(via);
        free(count);
        free(length);
        return NO_MEMORY;
    }
    memset(count, 0, (size_t)rows * sizeof(int64_t));
    for (int64_t v = begin; v < end; v++) {
        for (int64_t i = 0; i < rows; i++) {
            const double edge = w[v * m + first + i];
            if (edge < INFINITY) {
                via[i * block + count[i]] = v;
                length[i * block + count[i]++] = edge;
            }
        }
    }
    for (int64_t left = first; left < m; left += least(tile, m - left)) {
        const int64_t right = left + least(tile, m - left);
        for (int64_t u = first; u < least(last, right); u++) {
            const int64_t i = (u - first) * block;
            shortest_of_rows(w, m, via + i, length + i, count[u - first], w + u * m, most(u + 1, left), right);
        }
    }
    free(via);
    free(count);
    free(length);
    return 0;
}

/* later_edges(w, begin, end, start, via, length): write the edges of the vertices begin <= v < end to later ones,
 * their bounds, vertices and lengths; via and length have room for (end - begin) m of them. */
int64_t NAME(later_edges)(const argument *a) {
    const double *w = a[0].data;
    const int64_t m = a[0].shape[0], begin = a[1].n, end = a[2].n;
    int64_t *start = a[3].data, *via = a[4].data, at = 0;
    double *length = a[5].data;
    REQUIRE_SHAPE(a[0].shape[1] == m && begin >= 0 && begin <= end && end <= m && a[3].size == end - begin + 1);
    REQUIRE_SHAPE(a[4].size == (end - begin) * m && a[5].size == a[4].size);
    start[0] = 0;
    for (int64_t v = begin; v < end; v++) {
        for (int64_t u = v + 1; u < m; u++) {
            via[at] = u;
            length[at] = w[v * m + u];
            at += length[at] < INFINITY;
        }
        start[v - begin + 1] = at;
    }
    return 0;
}

/* Whether bounds and vertices are edges of the vertices begin <= v < end to later ones, of m vertices. */
static int are_later(const argument *start, const argument *via, const argument *length, int64_t begin, int64_t end,
                     int64_t m) {
    const int64_t *bounds = start->data, *to = via->data;
    if (bounds[0] != 0 || bounds[end - begin] > via->size || via->size != length->size) return 0;
    for (int64_t v = begin; v < end; v++) {
        const int64_t first = bounds[v - begin], last = bounds[v - begin + 1];
        if (first > last || last > via->size) return 0;
        for (int64_t e = first; e < last; e++)
            if (to[e] <= v || to[e] >= m) return 0;
    }
    return 1;
}

/* distances_to(d, begin, end, start, via, length, left, right, block): compute the distances of the vertices
 * begin <= v < end, whose later edges are given, to those left <= x < right, all later.
 *
 * The rows of later vertices are read in blocks that stay in the cache. The transpose is filled as well. */
int64_t NAME(distances_to)(const argument *a) {
    double *d = a[0].data;
    const int64_t m = a[0].shape[0], begin = a[1].n, end = a[2].n, left = a[6].n, right = a[7].n, block = a[8].n;
    const int64_t *start = a[3].data, *via = a[4].data;
    const double *length = a[5].data;
    REQUIRE_SHAPE(a[0].shape[1] == m && begin >= 0 && begin <= end && end <= left && left <= right && right <= m);
    REQUIRE_SHAPE(a[3].size == end - begin + 1 && block > 0);
    REQUIRE_INDEX(are_later(&a[3], &a[4], &a[5], begin, end, m));
    int64_t *cursor = room(end - begin, sizeof(int64_t));
    if (!cursor) return NO_MEMORY;
    memcpy(cursor, start, (size_t)(end - begin) * sizeof(int64_t));
    for (int64_t first = end; first < m; first += least(block, m - first)) {
        const int64_t last = first + least(block, m - first);
        for (int64_t v = begin; v < end; v++) {
            const int64_t stop = start[v - begin + 1];
            int64_t e = cursor[v - begin];
            while (e < stop && via[e] < first) e++;
            int64_t f = e;
            while (f < stop && via[f] < last) f++;
            cursor[v - begin] = f;
            shortest_of_rows(d, m, via + e, length + e, f - e, d + v * m, left, right);
        }
    }
    free(cursor);
    for (int64_t v = end - 1; v >= begin; v--) {
        const int64_t e = start[v - begin], stop = start[v - begin + 1];
        int64_t f = e;
        while (f < stop && via[f] < end) f++;
        shortest_of_rows(d, m, via + e, length + e, f - e, d + v * m, left, right);
    }
    for (int64_t x = left; x < right; x++)
        for (int64_t v = begin; v < end; v++) d[x * m + v] = d[v * m + x];
    return 0;
}

/* distances_within(d, begin, end, start, via, length): compute the distances between the vertices begin <= v < end,
 * whose later edges are given, after those to all later ones. */
int64_t NAME(distances_within)(const argument *a) {
    double *d = a[0].data;
    const int64_t m = a[0].shape[0], begin = a[1].n, end = a[2].n;
    const int64_t *start = a[3].data, *via = a[4].data;
    const double *length = a[5].data;
    REQUIRE_SHAPE(a[0].shape[1] == m && begin >= 0 && begin <= end && end <= m && a[3].size == end - begin + 1);
    REQUIRE_INDEX(are_later(&a[3], &a[4], &a[5], begin, end, m));
    for (int64_t v = end - 1; v >= begin; v--) {
        const int64_t e = start[v - begin], f = start[v - begin + 1];
        shortest_of_rows(d, m, via + e, length + e, f - e, d + v * m, v + 1, end);
        d[v * m + v] = 0;
        for (int64_t x = v + 1; x < end; x++) d[x * m + v] = d[v * m + x];
    }
    return 0;
}
