/* Elimination of the vertices of a graph one by one, with lengths of paths in place of numbers.
 *
 * The vertices are numbered in the order of elimination. When v is eliminated, its remaining neighbours up(v) are
 * joined with each other by edges of length w(v, a) + w(v, b), so that distances between the remaining vertices do
 * not change. A shortest path from any source then ascends in this order and descends again: two sweeps over the
 * edges (v, up(v)) find all distances, without a queue, for several sources at once. */
#define SOURCE "elimination.c"
#define INDICES
#ifndef BODY
#include "native.h"
#include "paths.h"

/* Vertices in lists, one for each degree: the first of each list, those after and before a vertex, or -1. */
typedef struct {
    int32_t *head, *after, *before;
} lists;

static inline void unlink_vertex(const lists *l, int64_t v, int64_t degree) {
    const int32_t after = l->after[v], before = l->before[v];
    if (before >= 0) l->after[before] = after;
    else l->head[degree] = after;
    if (after >= 0) l->before[after] = before;
}

static inline void link_vertex(const lists *l, int64_t v, int64_t degree) {
    const int32_t first = l->head[degree];
    l->head[degree] = (int32_t)v;
    l->after[v] = first;
    l->before[v] = -1;
    if (first >= 0) l->before[first] = (int32_t)v;
}

static inline uint64_t bit_of(int64_t v) { return (uint64_t)1 << (v & 63); }

/* Write the positions of the bits that are set in the words first <= i < last, and return their number. */
static inline int64_t positions(const uint64_t *words, int64_t first, int64_t last, int32_t *out) {
    int64_t count = 0;
    for (int64_t i = first; i < last; i++)
        for (uint64_t word = words[i]; word; word &= word - 1) out[count++] = (int32_t)(64 * i + __builtin_ctzll(word));
    return count;
}

/* Add the elements of one set to another, and return how many were not in it. Bits are counted in the bytes of four
 * words at once, each of which is at most 8 at a time. */
static inline int64_t unite(uint64_t *restrict set, const uint64_t *restrict other, int64_t words) {
    typedef uint64_t four __attribute__((vector_size(32)));
    const uint64_t ones = UINT64_MAX / 255;
    int64_t added = 0, i = 0;
    while (i + 4 <= words) {
        four bytes = {0};
        for (int times = 0; times < 31 && i + 4 <= words; times++, i += 4) {
            four before, own, x;
            memcpy(&before, set + i, sizeof(four));
            memcpy(&own, other + i, sizeof(four));
            x = own & ~before;
            before |= own;
            memcpy(set + i, &before, sizeof(four));
            x -= (x >> 1) & (0x55 * ones);
            x = (x & (0x33 * ones)) + ((x >> 2) & (0x33 * ones));
            bytes += (x + (x >> 4)) & (0x0f * ones);
        }
        for (int k = 0; k < 4; k++) { /* bytes to pairs of bytes, which are added */
            const uint64_t pairs = (bytes[k] & (UINT64_MAX / 257)) + ((bytes[k] >> 8) & (UINT64_MAX / 257));
            added += (int64_t)((pairs * (UINT64_MAX / 65535)) >> 48);
        }
    }
    for (; i < words; i++) {
        added += __builtin_popcountll(other[i] & ~set[i]);
        set[i] |= other[i];
    }
    return added;
}

/* The same of the words `filled` of a set; the others have no elements. */
static inline int64_t unite_some(uint64_t *restrict set, const uint64_t *restrict other, const int32_t *filled,
                                 int64_t n_filled) {
    int64_t added = 0;
    for (int64_t i = 0; i < n_filled; i++) {
        added += __builtin_popcountll(other[filled[i]] & ~set[filled[i]]);
        set[filled[i]] |= other[filled[i]];
    }
    return added;
}

#include "each.h"
#define TYPES ddl

/* depth_first(near, order, start, new_order, rank, new_start, up): renumber the first p vertices of an order of
 * elimination so that those eliminated into each other are consecutive.
 *
 * near and order are as minimum_degree writes them; start (p + 1,) are the bounds of the neighbours of each vertex
 * in that order. The parent of v is the first of up(v) to be eliminated; any order with children before their
 * parents has the same fill. Written are the new order and the rank of each vertex in it, and for the first p
 * vertices in the new order the bounds new_start of their neighbours up, which are sorted and renumbered. */
int64_t NAME(depth_first)(const argument *a) {
    const uint64_t *near = a[0].data;
    const int32_t *order = a[1].data;
    const int64_t *start = a[2].data;
    int32_t *new_order = a[3].data, *rank = a[4].data, *up = a[6].data;
    int64_t *new_start = a[5].data;
    const int64_t m = a[0].shape[0], words = a[0].shape[1], p = a[2].size - 1;
    REQUIRE_SHAPE(m <= INT32_MAX && words == (m + 63) / 64 && a[1].size == m && p >= 0 && p <= m && a[3].size == m);
    REQUIRE_SHAPE(a[4].size == m && a[5].size == p + 1 && start[0] == 0 && start[p] == a[6].size);
    memset(rank, 0xff, (size_t)m * sizeof(int32_t));
    for (int64_t v = 0; v < m; v++) {
        REQUIRE_INDEX(WITHIN(order[v], m) && rank[order[v]] < 0);
        rank[order[v]] = (int32_t)v;
    }
    int32_t *child = room(p + 1, sizeof(int32_t)), *sibling = room(p, sizeof(int32_t));
    int32_t *place = room(p, sizeof(int32_t)), *stack = room(p + 1, sizeof(int32_t)); /* place: new number of each */
    int32_t *some = room(64 * words, sizeof(int32_t));
    int32_t *listed = room(a[6].size, sizeof(int32_t)), *columns = room(a[6].size, sizeof(int32_t));
    int64_t *column_start = room(m + 1, sizeof(int64_t)), *cursor = room(p, sizeof(int64_t));
    int64_t answer = NO_MEMORY;
    if (!child || !sibling || !place || !stack || !some || !listed || !columns || !column_start || !cursor) goto done;
    answer = BAD_INDEX;
    memset(child, 0xff, (size_t)(p + 1) * sizeof(int32_t));
    for (int64_t v = p - 1; v >= 0; v--) {
        const int64_t count = positions(near + order[v] * words, 0, words, some);
        if (count != start[v + 1] - start[v] || start[v] < 0 || start[v + 1] > a[6].size) goto done;
        int32_t parent = (int32_t)p; /* a root */
        for (int64_t i = 0; i < count; i++) {
            if (some[i] >= m || rank[some[i]] <= v) goto done;
            listed[start[v] + i] = some[i];
            if (rank[some[i]] < parent) parent = rank[some[i]];
        }
        sibling[v] = child[parent];
        child[parent] = (int32_t)v;
    }
    int64_t size = 0;
    int32_t number = (int32_t)p;
    for (int32_t v = child[p]; v >= 0 || size > 0; v = child[v]) { /* from the last: parents before their children */
        if (v < 0) v = stack[--size];
        place[v] = --number;
        if (sibling[v] >= 0) stack[size++] = sibling[v];
    }
    memcpy(new_order, order, (size_t)m * sizeof(int32_t));
    new_start[0] = 0;
    for (int64_t v = 0; v < p; v++) {
        new_order[place[v]] = order[v];
        new_start[place[v] + 1] = start[v + 1] - start[v];
    }
    for (int64_t v = 0; v < p; v++) new_start[v + 1] += new_start[v];
    for (int64_t v = 0; v < m; v++) rank[new_order[v]] = (int32_t)v;
    /* Rows are sorted by two transpositions. */
    memset(column_start, 0, (size_t)(m + 1) * sizeof(int64_t));
    for (int64_t e = 0; e < start[p]; e++) column_start[rank[listed[e]] + 1]++;
    for (int64_t u = 0; u < m; u++) column_start[u + 1] += column_start[u];
    for (int64_t v = 0; v < p; v++) {
        cursor[v] = new_start[v];
        for (int64_t e = start[v]; e < start[v + 1]; e++) columns[column_start[rank[listed[e]]]++] = place[v];
    }
    for (int64_t u = 0, e = 0; u < m; u++) /* column_start[u] is now the end of column u */
        for (; e < column_start[u]; e++) up[cursor[columns[e]]++] = (int32_t)u;
    answer = 0;
done:
    free(child);
    free(sibling);
    free(place);
    free(stack);
    free(some);
    free(listed);
    free(columns);
    free(column_start);
    free(cursor);
    return answer;
}

/* For each source b of a batch, d(x) = min_t d(t) + core(t, x) over the vertices t of the core that it has reached.
 * distance (n, LANES); via and length have room for n_sources n vertices and lengths. */
static void through_core(const double *core, int64_t n, const uint8_t *reached, double *distance, int64_t n_sources,
                         int64_t *via, double *length) {
    enum { TILE = 4 * STRIP }; /* columns of all rows that sources have in common stay in the cache */
    double rows[LANES][TILE];
    int64_t count[LANES] = {0};
    for (int64_t t = 0; t < n; t++) {
        for (int64_t b = 0; reached[t] && b < n_sources; b++) {
            if (distance[t * LANES + b] < INFINITY) {
                via[b * n + count[b]] = t;
                length[b * n + count[b]++] = distance[t * LANES + b];
            }
        }
    }
    for (int64_t left = 0; left < n; left += TILE) {
        const int64_t columns = least(TILE, n - left);
        for (int64_t b = 0; b < n_sources; b++) {
            for (int64_t x = 0; x < columns; x++) rows[b][x] = INFINITY;
            shortest_of_rows(core + left, n, via + b * n, length + b * n, count[b], rows[b], 0, columns);
        }
        for (int64_t x = 0; x < columns; x++)
            for (int64_t b = 0; b < n_sources; b++) distance[(left + x) * LANES + b] = rows[b][x];
    }
}

/* sweep(start, up, weight, core, seed_start, seed_vertex, seed_length, distance): compute distances (m, LANES) from
 * up to LANES sources.
 *
 * Source b has edges of seed_length to the vertices seed_vertex. core (l, l) are the distances between the last
 * vertices, which are not eliminated. */
int64_t NAME(sweep)(const argument *a) {
    const int64_t *start = a[0].data, *seed_start = a[4].data, *seed_vertex = a[5].data;
    const int32_t *up = a[1].data;
    const double *weight = a[2].data, *core = a[3].data, *seed_length = a[6].data;
    double *distance = a[7].data;
    const int64_t m = a[7].shape[0], p = a[0].size - 1, n_core = a[3].shape[0], n_sources = a[4].size - 1;
    REQUIRE_SHAPE(a[7].shape[1] == LANES && p >= 0 && p + n_core == m && a[3].shape[1] == n_core);
    REQUIRE_SHAPE(n_sources >= 0 && n_sources <= LANES && a[1].size == a[2].size && a[5].size == a[6].size);
    uint8_t *reached = room(m, 1);
    int64_t *via = room(n_sources * n_core, sizeof(int64_t));
    double *length = room(n_sources * n_core, sizeof(double));
    int64_t answer = NO_MEMORY;
    if (!reached || !via || !length) goto done;
    answer = BAD_INDEX;
    memset(reached, 0, (size_t)m);
    for (int64_t i = 0; i < m * LANES; i++) distance[i] = INFINITY;
    int64_t first = m;
    for (int64_t b = 0; b < n_sources; b++) {
        if (seed_start[b] < 0 || seed_start[b] > seed_start[b + 1] || seed_start[b + 1] > a[5].size) goto done;
        for (int64_t e = seed_start[b]; e < seed_start[b + 1]; e++) {
            const int64_t v = seed_vertex[e];
            if (!WITHIN(v, m)) goto done;
            distance[v * LANES + b] = LESS(seed_length[e], distance[v * LANES + b]);
            reached[v] = 1;
            first = least(first, v);
        }
    }
    for (int64_t v = first; v < p; v++) {
        if (!reached[v]) continue;
        if (start[v] < 0 || start[v] > start[v + 1] || start[v + 1] > a[1].size) goto done;
        vector near[LANES / VECTOR];
        for (int k = 0; k < LANES / VECTOR; k++) near[k] = get(distance + v * LANES + VECTOR * k);
        for (int64_t e = start[v]; e < start[v + 1]; e++) {
            if (up[e] <= v || up[e] >= m) goto done;
            double *far = distance + (int64_t)up[e] * LANES;
            const vector w = same(weight[e]);
            reached[up[e]] = 1;
            for (int k = 0; k < LANES / VECTOR; k++) put(far + VECTOR * k, smaller(near[k] + w, get(far + VECTOR * k)));
        }
    }
    through_core(core, n_core, reached + p, distance + p * LANES, n_sources, via, length);
    for (int64_t v = p - 1; v >= 0; v--) { /* d(v) = min_u w(v, u) + d(u) over u in up(v) */
        if (start[v] < 0 || start[v] > start[v + 1] || start[v + 1] > a[1].size) goto done;
        vector near[LANES / VECTOR];
        for (int k = 0; k < LANES / VECTOR; k++) near[k] = get(distance + v * LANES + VECTOR * k);
        for (int64_t e = start[v]; e < start[v + 1]; e++) {
            if (up[e] <= v || up[e] >= m) goto done;
            const double *far = distance + (int64_t)up[e] * LANES;
            const vector w = same(weight[e]);
            for (int k = 0; k < LANES / VECTOR; k++) near[k] = smaller(get(far + VECTOR * k) + w, near[k]);
        }
        for (int k = 0; k < LANES / VECTOR; k++) put(distance + v * LANES + VECTOR * k, near[k]);
    }
    answer = 0;
done:
    free(reached);
    free(via);
    free(length);
    return answer;
}
#else

/* minimum_degree(indptr, indices, max_cost, near, order, count): compute an order of elimination with little fill,
 * always a vertex with the fewest neighbours.
 *
 * Written are the order (m,), len(up(v)) (m,) for the vertices in this order, and near (m, (m + 63) / 64), up(v) as
 * sets of bits, by the old numbers. Answers the number of vertices for which near is up(v): when most of the
 * remaining vertices are joined with each other, their order does not matter, and all are taken to be; so too if
 * sum_v len(up(v)) (m - v) is likely to exceed max_cost. Each edge must be stored in both directions. */
int64_t NAME(minimum_degree)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const double max_cost = a[2].x;
    uint64_t *near = a[3].data;
    int32_t *order = a[4].data;
    int64_t *count = a[5].data;
    const int64_t m = a[0].size - 1, words = (m + 63) / 64;
    REQUIRE_SHAPE(m >= 0 && m <= INT32_MAX && a[3].shape[0] == m && a[3].shape[1] == words);
    REQUIRE_SHAPE(a[4].size == m && a[5].size == m);
    memset(near, 0, (size_t)(m * words) * sizeof(uint64_t));
    for (int64_t v = 0; v < m; v++) {
        REQUIRE_INDEX(indptr[v] >= 0 && indptr[v] <= indptr[v + 1] && indptr[v + 1] <= a[1].size);
        for (int64_t e = indptr[v]; e < indptr[v + 1]; e++) {
            REQUIRE_INDEX(WITHIN(indices[e], m));
            near[v * words + (indices[e] >> 6)] |= bit_of(indices[e]);
        }
        near[v * words + (v >> 6)] &= ~bit_of(v);
    }
    lists l = {room(m + 1, sizeof(int32_t)), room(m, sizeof(int32_t)), room(m, sizeof(int32_t))};
    int32_t *degree = room(m, sizeof(int32_t)), *some = room(64 * words, sizeof(int32_t)); /* degree: -1 when done */
    int32_t *filled = room(words, sizeof(int32_t)); /* words of a set that are not zero */
    int64_t answer = NO_MEMORY;
    if (!l.head || !l.after || !l.before || !degree || !some || !filled) goto done;
    memset(l.head, 0xff, (size_t)(m + 1) * sizeof(int32_t));
    for (int64_t v = m - 1; v >= 0; v--) {
        degree[v] = 0;
        for (int64_t i = 0; i < words; i++) degree[v] += __builtin_popcountll(near[v * words + i]);
        link_vertex(&l, v, degree[v]);
    }
    int64_t fewest = 0, n_done = 0;
    double cost = 0;
    while (n_done < m) {
        while (l.head[fewest] < 0) fewest++;
        const int64_t left = m - n_done;
        const double following = 0.5 * (double)fewest * (double)left * (double)left;
        if (4 * fewest >= 3 * (left - 1) || cost + following > max_cost) break;
        cost += (double)(fewest * left);
        const int64_t v = l.head[fewest];
        uint64_t *own = near + v * words;
        unlink_vertex(&l, v, fewest);
        const int64_t n_near = positions(own, 0, words, some);
        int64_t n_filled = 0;
        for (int64_t i = 0; i < words; i++) {
            filled[n_filled] = (int32_t)i;
            n_filled += own[i] != 0;
        }
        order[n_done] = (int32_t)v;
        count[n_done++] = n_near;
        degree[v] = -1;
        for (int64_t i = 0; i < n_near; i++) {
            const int64_t u = some[i];
            uint64_t *other = near + u * words;
            if (degree[u] < 0 || !(other[v >> 6] & bit_of(v))) {
                answer = BAD_INDEX;
                goto done;
            }
            own[u >> 6] ^= bit_of(u);
            const int64_t joined = 3 * n_filled < words ? unite_some(other, own, filled, n_filled) : unite(other, own, words);
            own[u >> 6] ^= bit_of(u);
            other[v >> 6] ^= bit_of(v);
            unlink_vertex(&l, u, degree[u]);
            degree[u] += (int32_t)(joined - 1);
            link_vertex(&l, u, degree[u]);
            fewest = least(fewest, degree[u]);
        }
    }
    answer = n_done;
    for (int64_t v = 0; v < m; v++) {
        if (degree[v] < 0) continue;
        order[n_done] = (int32_t)v;
        count[n_done] = m - n_done - 1;
        n_done++;
    }
done:
    free(l.head);
    free(l.after);
    free(l.before);
    free(degree);
    free(some);
    free(filled);
    return answer;
}

/* eliminate(indptr, indices, lengths, order, rank, start, up, weight, core): compute the lengths weight of the edges
 * (v, up(v)), and the lengths of the edges that remain in core (l, l).
 *
 * w(a, b) = min(w(a, b), w(v, a) + w(v, b)) for all a, b in up(v). The upper triangle of core receives the edges
 * between the vertices that are not eliminated; it is infinite where there is none, before and after. */
int64_t NAME(eliminate)(const argument *a) {
    const INDEX *indptr = a[0].data, *indices = a[1].data;
    const double *lengths = a[2].data;
    const int32_t *order = a[3].data, *rank = a[4].data, *up = a[6].data;
    const int64_t *start = a[5].data;
    double *weight = a[7].data, *core = a[8].data;
    const int64_t m = a[3].size, p = a[5].size - 1, n_core = m - p;
    REQUIRE_SHAPE(a[0].size == m + 1 && a[1].size == a[2].size && a[4].size == m && p >= 0 && p <= m);
    REQUIRE_SHAPE(a[7].size == a[6].size && a[8].shape[0] == n_core && a[8].shape[1] == n_core);
    for (int64_t v = 0; v < m; v++) REQUIRE_INDEX(WITHIN(order[v], m) && WITHIN(rank[v], m));
    REQUIRE_INDEX(start[0] == 0 && start[p] == a[6].size);
    for (int64_t v = 0; v < p; v++) {
        REQUIRE_INDEX(start[v] <= start[v + 1] && start[v + 1] <= a[6].size);
        for (int64_t e = start[v], before = v; e < start[v + 1]; before = up[e++])
            REQUIRE_INDEX(up[e] > before && up[e] < m);
    }
    for (int64_t v = 0; v < m; v++)
        REQUIRE_INDEX(indptr[v] >= 0 && indptr[v] <= indptr[v + 1] && indptr[v + 1] <= a[1].size);
    for (int64_t e = indptr[0]; m > 0 && e < indptr[m]; e++) REQUIRE_INDEX(WITHIN(indices[e], m));

    int32_t *head = room(p, sizeof(int32_t)), *after = room(p, sizeof(int32_t));
    int64_t *cursor = room(p, sizeof(int64_t)); /* rows wait in the list of their next vertex */
    double *row = room(m, sizeof(double));
    int64_t answer = NO_MEMORY;
    if (!head || !after || !cursor || !row) goto done;
    memset(head, 0xff, (size_t)p * sizeof(int32_t));
    memcpy(cursor, start, (size_t)p * sizeof(int64_t));
    for (int64_t u = 0; u < m; u++) row[u] = INFINITY;
    for (int64_t v = 0; v < p; v++) {
        for (int64_t e = start[v]; e < start[v + 1]; e++) row[up[e]] = INFINITY;
        for (int64_t e = indptr[order[v]]; e < indptr[order[v] + 1]; e++) {
            const int64_t u = rank[indices[e]];
            if (u > v) row[u] = LESS(lengths[e], row[u]);
        }
        for (int32_t c = head[v], following; c >= 0; c = following) {
            const double w = weight[cursor[c]];
            following = after[c];
            for (int64_t e = cursor[c] + 1; e < start[c + 1]; e++) row[up[e]] = LESS(w + weight[e], row[up[e]]);
            cursor[c]++;
            if (cursor[c] < start[c + 1] && up[cursor[c]] < p) {
                after[c] = head[up[cursor[c]]];
                head[up[cursor[c]]] = c;
            }
        }
        for (int64_t e = start[v]; e < start[v + 1]; e++) weight[e] = row[up[e]];
        if (start[v] < start[v + 1] && up[start[v]] < p) {
            after[v] = head[up[start[v]]];
            head[up[start[v]]] = (int32_t)v;
        }
    }
    for (int64_t v = p; v < m; v++) {
        for (int64_t e = indptr[order[v]]; e < indptr[order[v] + 1]; e++) {
            const int64_t u = rank[indices[e]];
            double *target = core + (v - p) * n_core;
            if (u > v) target[u - p] = LESS(lengths[e], target[u - p]);
        }
    }
    for (int64_t v = 0; v < p; v++) {
        for (int64_t i = start[v]; i < start[v + 1]; i++) {
            if (up[i] < p) continue;
            double *target = core + (up[i] - p) * n_core;
            for (int64_t j = i + 1; j < start[v + 1]; j++)
                target[up[j] - p] = LESS(weight[i] + weight[j], target[up[j] - p]);
        }
    }
    answer = 0;
done:
    free(head);
    free(after);
    free(cursor);
    free(row);
    return answer;
}
#endif
