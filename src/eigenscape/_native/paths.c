/* Shortest paths from several sources at once. */
#define SOURCE "paths.c"
#define REALS
#define INDICES
#ifndef BODY
#include "native.h"
#include "paths.h"

/* Vertices by the smallest key first: a node of the heap has four children; the place of others is -1. */
typedef struct {
    int32_t *vertex, *place;
    double *key;
    int64_t size;
} heap;

/* Lower the key of v, or insert it. */
static inline void decrease_key(heap *h, int32_t v, double key) {
    h->key[v] = key;
    int64_t i = h->place[v] < 0 ? h->size++ : h->place[v];
    while (i > 0) {
        const int64_t parent = (i - 1) >> 2;
        const int32_t p = h->vertex[parent];
        if (h->key[p] <= key) break;
        h->vertex[i] = p;
        h->place[p] = (int32_t)i;
        i = parent;
    }
    h->vertex[i] = v;
    h->place[v] = (int32_t)i;
}

/* Remove and return the vertex with the smallest key. */
static inline int32_t pop(heap *h) {
    const int32_t top = h->vertex[0], v = h->vertex[--h->size];
    h->place[top] = -1;
    if (h->size == 0) return top;
    const double key = h->key[v];
    int64_t i = 0;
    for (;;) {
        const int64_t child = 4 * i + 1;
        if (child >= h->size) break;
        int64_t best = child;
        for (int64_t other = child + 1; other < least(child + 4, h->size); other++)
            if (h->key[h->vertex[other]] < h->key[h->vertex[best]]) best = other;
        if (h->key[h->vertex[best]] >= key) break;
        h->vertex[i] = h->vertex[best];
        h->place[h->vertex[i]] = (int32_t)i;
        i = best;
    }
    h->vertex[i] = v;
    h->place[v] = (int32_t)i;
    return top;
}

/* far[b] = min(far[b], near[b] + w) for all lanes; return the smallest distance that became smaller, or infinity. */
static inline double relax(const vector near[LANES / VECTOR], double *far, double w) {
    enum { N = LANES / VECTOR };
    vector d[N];
    mask better[N], some = {0};
    for (int k = 0; k < N; k++) {
        d[k] = near[k] + same(w);
        better[k] = (mask)(d[k] < get(far + VECTOR * k));
        some |= better[k];
    }
    if (!any(some)) return INFINITY;
    vector fewest = same(INFINITY);
    for (int k = 0; k < N; k++) {
        put(far + VECTOR * k, smaller(d[k], get(far + VECTOR * k)));
        fewest = smaller((vector)(((mask)d[k] & better[k]) | ((mask)same(INFINITY) & ~better[k])), fewest);
    }
    double out = fewest[0];
    for (int k = 1; k < VECTOR; k++) out = LESS(fewest[k], out);
    return out;
}

#include "each.h"
#else

/* shortest_paths(indptr, indices, lengths, seed_start, seed_vertex, seed_length, distance): compute distances
 * (m, LANES) from up to LANES sources.
 *
 * Source b has edges of seed_length to the vertices seed_vertex; no length is negative. Label-correcting, with a heap
 * ordered by the smallest distance not yet propagated: d(v) = min_u d(u) + w(u, v). A vertex is visited again if
 * another source improves its distance; the result is exact. */
int64_t NAME(shortest_paths)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const double *lengths = a[2].data, *seed_length = a[5].data;
    const int64_t *seed_start = a[3].data, *seed_vertex = a[4].data;
    double *distance = a[6].data;
    const int64_t m = a[6].shape[0], n_sources = a[3].size - 1;
    REQUIRE_SHAPE(a[0].size == m + 1 && a[1].size == a[2].size && a[6].shape[1] == LANES && m <= INT32_MAX);
    REQUIRE_SHAPE(n_sources >= 0 && n_sources <= LANES && a[4].size == a[5].size);
    heap h = {room(m, sizeof(int32_t)), room(m, sizeof(int32_t)), room(m, sizeof(double)), 0};
    int64_t answer = NO_MEMORY;
    if (!h.vertex || !h.place || !h.key) goto done;
    answer = BAD_INDEX;
    for (int64_t i = 0; i < m * LANES; i++) distance[i] = INFINITY;
    for (int64_t v = 0; v < m; v++) h.key[v] = INFINITY;
    memset(h.place, 0xff, (size_t)m * sizeof(int32_t));
    for (int64_t b = 0; b < n_sources; b++) {
        if (seed_start[b] < 0 || seed_start[b] > seed_start[b + 1] || seed_start[b + 1] > a[4].size) goto done;
        for (int64_t e = seed_start[b]; e < seed_start[b + 1]; e++) {
            const int64_t v = seed_vertex[e];
            const double d = seed_length[e];
            if (!WITHIN(v, m)) goto done;
            if (!(d < distance[v * LANES + b])) continue;
            distance[v * LANES + b] = d;
            if (d < h.key[v]) decrease_key(&h, (int32_t)v, d);
        }
    }
    while (h.size > 0) {
        const int64_t u = pop(&h), first = indptr[u], last = indptr[u + 1];
        if (first < 0 || first > last || last > a[1].size) goto done;
        h.key[u] = INFINITY;
        vector near[LANES / VECTOR];
        for (int k = 0; k < LANES / VECTOR; k++) near[k] = get(distance + u * LANES + VECTOR * k);
        for (int64_t e = first; e < last; e++) {
            const int64_t v = indices[e];
            if (!WITHIN(v, m)) goto done;
            const double fewest = relax(near, distance + v * LANES, lengths[e]);
            if (fewest < h.key[v]) decrease_key(&h, (int32_t)v, fewest);
        }
    }
    answer = 0;
done:
    free(h.vertex);
    free(h.place);
    free(h.key);
    return answer;
}

/* update_nearest_source(indptr, indices, lengths, source, step, nearest): update nearest (m,), the distances to the
 * nearest of some sources, for an additional source: d(v) = min(d(v), d(source, v)).
 *
 * No length is negative. Label-correcting: vertices nearer than a bound propagate their distances, in order of
 * arrival, until none of them changes; then the bound moves step beyond the nearest of the others. No heap is needed,
 * and the result is exact for any step; a few mean edge lengths are fast. The search stops at vertices to which an
 * earlier source is as near. */
int64_t NAME(update_nearest_source)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const double *lengths = a[2].data, step = a[4].x;
    const int64_t source = a[3].n, m = a[5].size, stored = a[1].size;
    double *nearest = a[5].data;
    REQUIRE_SHAPE(a[0].size == m + 1 && stored == a[2].size && m <= INT32_MAX);
    REQUIRE_INDEX(WITHIN(source, m));
    /* A ring buffer and a list; each vertex is at most once in either. */
    enum { OUTSIDE, IN_RING, IN_LIST };
    int32_t *near = room(m, sizeof(int32_t)), *far = room(m, sizeof(int32_t));
    uint8_t *state = calloc((size_t)m, 1);
    int64_t answer = NO_MEMORY;
    if (!near || !far || !state) goto done;
    answer = BAD_INDEX;
    nearest[source] = 0;
    near[0] = (int32_t)source;
    state[source] = IN_RING;
    int64_t head = 0, n_near = 1, n_far = 0;
    double bound = step;
    while (n_near > 0) {
        while (n_near > 0) {
            const int64_t u = near[head], first = indptr[u], last = indptr[u + 1];
            if (first < 0 || first > last || last > stored) goto done;
            head = head + 1 < m ? head + 1 : 0;
            n_near--;
            state[u] = OUTSIDE;
            for (int64_t e = first; e < last; e++) {
                const int64_t v = indices[e];
                if (!WITHIN(v, m)) goto done;
                const double d = nearest[u] + lengths[e];
                if (!(d < nearest[v])) continue;
                if (d < nearest[u]) goto done; /* a negative length, which may shorten a path without end */
                nearest[v] = d;
                if (d >= bound) {
                    if (state[v] != OUTSIDE) continue;
                    state[v] = IN_LIST;
                    far[n_far++] = (int32_t)v;
                } else if (state[v] != IN_RING) {
                    state[v] = IN_RING;
                    const int64_t tail = head + n_near++;
                    near[tail < m ? tail : tail - m] = (int32_t)v;
                }
            }
        }
        double shortest = INFINITY;
        for (int64_t i = 0; i < n_far; i++)
            if (state[far[i]] == IN_LIST) shortest = LESS(nearest[far[i]], shortest);
        int64_t kept = 0;
        head = 0;
        bound = shortest + step;
        for (int64_t i = 0; i < n_far; i++) {
            const int32_t v = far[i];
            if (state[v] != IN_LIST) continue; /* propagated since */
            if (nearest[v] < bound || nearest[v] == shortest) { /* the step may be lost to rounding */
                state[v] = IN_RING;
                near[n_near++] = v;
            } else {
                far[kept++] = v;
            }
        }
        n_far = kept;
    }
    answer = 0;
done:
    free(near);
    free(far);
    free(state);
    return answer;
}

/* shortest_through(indptr, indices, lengths, onward, out): compute out[y, l] = min_v lengths[y, v] + onward[v, l] over
 * the stored entries of row y; infinite for rows without entries. Sums are rounded to the type of out once. */
int64_t NAME(shortest_through)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const double *lengths = a[2].data;
    const REAL *onward = a[3].data;
    REAL *out = a[4].data;
    const int64_t m = a[3].shape[0], n = a[4].shape[0], columns = a[4].shape[1];
    REQUIRE_SHAPE(a[0].size == n + 1 && a[1].size == a[2].size && a[3].shape[1] == columns);
    for (int64_t y = 0; y < n; y++) {
        const int64_t first = indptr[y], last = indptr[y + 1];
        REQUIRE_INDEX(first >= 0 && first <= last && last <= a[1].size);
        for (int64_t e = first; e < last; e++) REQUIRE_INDEX(WITHIN(indices[e], m));
        int64_t left = 0;
        for (; columns - left >= STRIP; left += STRIP) {
            vector best[8];
            for (int k = 0; k < 8; k++) best[k] = same(INFINITY);
            for (int64_t e = first; e < last; e++) {
                const REAL *row = onward + indices[e] * columns + left;
                const vector w = same(lengths[e]);
                for (int k = 0; k < 8; k++) best[k] = smaller(w + GET(row + VECTOR * k), best[k]);
            }
            for (int k = 0; k < STRIP; k++) out[y * columns + left + k] = (REAL)best[k / VECTOR][k % VECTOR];
        }
        double best[STRIP];
        const int64_t rest = columns - left;
        for (int64_t k = 0; k < rest; k++) best[k] = INFINITY;
        for (int64_t e = first; e < last; e++) {
            const REAL *row = onward + indices[e] * columns + left;
            for (int64_t k = 0; k < rest; k++) best[k] = LESS(lengths[e] + row[k], best[k]);
        }
        for (int64_t k = 0; k < rest; k++) out[y * columns + left + k] = (REAL)best[k];
    }
    return 0;
}

/* store_rows(distance, rank, rows, out): store lanes of distance (m, LANES) as rows of another order,
 * out[rows[b], i] = distance[rank[i], b]. */
int64_t NAME(store_rows)(const argument *a) {
    const double *distance = a[0].data;
    const INDEX *rank = a[1].data;
    const int64_t *rows = a[2].data;
    REAL *out = a[3].data;
    const int64_t m = a[0].shape[0], n = a[1].size, n_rows = a[2].size;
    REQUIRE_SHAPE(a[0].shape[1] == LANES && n_rows <= LANES && a[3].shape[1] == n);
    for (int64_t b = 0; b < n_rows; b++) REQUIRE_INDEX(WITHIN(rows[b], a[3].shape[0]));
    for (int64_t i = 0; i < n; i++) REQUIRE_INDEX(WITHIN(rank[i], m));
    for (int64_t first = 0; first < n; first += 64) { /* lines that stay in the cache for all rows */
        const int64_t last = least(first + 64, n);
        for (int64_t b = 0; b < n_rows; b++) {
            REAL *row = out + rows[b] * n;
            for (int64_t i = first; i < last; i++) row[i] = (REAL)distance[(int64_t)rank[i] * LANES + b];
        }
    }
    return 0;
}

/* half_square_products(indptr, indices, lengths, distance, V, single, out): compute out[y, c] = sum_b k(y, b) V[b, c]
 * with k = -d^2 / 2, rounded to single precision if `single`.
 *
 * d(y, b) = min_v lengths[y, v] + distance[v, b]; distance (m, LANES) are the distances to the vertices of the rows
 * of V (LANES, c). */
int64_t NAME(half_square_products)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const double *lengths = a[2].data, *distance = a[3].data, *V = a[4].data;
    double *out = a[6].data;
    const int64_t m = a[3].shape[0], n = a[6].shape[0], columns = a[6].shape[1], single = a[5].n;
    REQUIRE_SHAPE(a[0].size == n + 1 && a[1].size == a[2].size && a[3].shape[1] == LANES);
    REQUIRE_SHAPE(a[4].shape[0] == LANES && a[4].shape[1] == columns);
    for (int64_t y = 0; y < n; y++) {
        const int64_t first = indptr[y], last = indptr[y + 1];
        REQUIRE_INDEX(first >= 0 && first <= last && last <= a[1].size);
        vector best[LANES / VECTOR];
        for (int k = 0; k < LANES / VECTOR; k++) best[k] = same(INFINITY);
        for (int64_t e = first; e < last; e++) {
            REQUIRE_INDEX(WITHIN(indices[e], m));
            const double *far = distance + (int64_t)indices[e] * LANES;
            const vector w = same(lengths[e]);
            for (int k = 0; k < LANES / VECTOR; k++) best[k] = smaller(get(far + VECTOR * k) + w, best[k]);
        }
        double value[LANES];
        for (int k = 0; k < LANES / VECTOR; k++) put(value + VECTOR * k, same(-0.5) * best[k] * best[k]);
        if (single)
            for (int b = 0; b < LANES; b++) value[b] = (double)(float)value[b];
        int64_t c = 0;
        for (; columns - c >= VECTOR; c += VECTOR) {
            vector total = same(0);
            for (int b = 0; b < LANES; b++) total += same(value[b]) * get(V + b * columns + c);
            put(out + y * columns + c, total);
        }
        for (; c < columns; c++) {
            double total = 0;
            for (int b = 0; b < LANES; b++) total += value[b] * V[b * columns + c];
            out[y * columns + c] = total;
        }
    }
    return 0;
}
#endif
