/* Search in cells: points are stored cell by cell, and a query visits the cells of the nearest centres. */
#define SOURCE "cells.c"
#ifndef BODY
#include <limits.h>

#include "blas.h"
#include "search.h"

#include "each.h"
#else

#define EPS 0x1p-23 /* of single precision */
/* Up to this many queries are multiplied one by one: the BLAS would copy all points first. */
#define FEW 3
/* Values that are passed over together if none of them is small. */
#define CHUNK 32

/* Queries, the cells that they visit, and the products of queries and points. */
typedef struct {
    const float *queries, *centers, *points;
    const double *sizes; /* (n_cells,) largest norms of the points of each cell */
    const int64_t *start; /* (n_cells + 1,) first point of each cell */
    int64_t b, d, n_cells, visits;
    double *query;   /* (d,) one query */
    double *length;  /* (others or visits,) a list, with its numbers */
    int64_t *number;
    int64_t *cells;  /* (b, visits) nearest cells */
    int64_t *first;  /* (b, visits) where the values of these cells begin */
    float *values;   /* |x|^2 - 2 q'x of the points of these cells, cell by cell */
    float *kept;     /* values in question, of one query; places are their points */
    float *sorted;   /* and a copy of them */
    int64_t *places;
} search;

/* Write |x|^2 - 2 q'x of queries (b, d) and points (n, d), with norms |x|^2 (n,), to out (b, n) in single precision;
 * the BLAS stores columns one after another. */
static void multiply(const float *queries, const float *points, const float *norms, int64_t b, int64_t n, int64_t d,
                     float *out) {
    char yes = 'T', no = 'N';
    int rows = (int)n, columns = (int)b, inner = (int)d;
    float minus_two = -2, one = 1;
    for (int64_t i = 0; i < b; i++) memcpy(out + i * n, norms, (size_t)n * sizeof(float));
    blas_sgemm(&yes, &no, &rows, &columns, &inner, &minus_two, points, &inner, queries, &inner, &one, out, &rows);
}

static inline float8 eight_floats(const float *x) {
    float8 out;
    memcpy(&out, x, sizeof(out));
    return out;
}

/* Write |x|^2 - 2 q'x = x'(x - 2 q) of one query and points (n, d) to out, in single precision. */
static void multiply_one(const float *query, const float *points, int64_t n, int64_t d, float *out) {
    for (int64_t j = 0; j < n; j++) {
        const float *x = points + j * d;
        float8 a = {0}, b = {0};
        int64_t f = 0;
        for (; f + 16 <= d; f += 16) {
            const float8 p = eight_floats(x + f), q = eight_floats(x + f + 8);
            a += p * (p - 2 * eight_floats(query + f));
            b += q * (q - 2 * eight_floats(query + f + 8));
        }
        a += b;
        float total = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
        for (; f < d; f++) total += x[f] * (x[f] - 2 * query[f]);
        out[j] = total;
    }
}

/* Return the count-th smallest value by Hoare's selection; the n values are reordered. */
static float smallest_of(float *values, int64_t n, int64_t count) {
    int64_t low = 0, high = n - 1;
    const int64_t target = count - 1;
    while (low < high) {
        const float pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i <= j) {
                const float value = values[i];
                values[i++] = values[j];
                values[j--] = value;
            }
        }
        if (target <= j) high = j;
        else if (target >= i) low = i;
        else break;
    }
    return values[target];
}

/* A bound of the rounding errors of |x|^2 - 2 q'x in single precision, for |x| <= size. */
static double rounding(int64_t d, double size, double query_square) {
    return (double)(d + 8) * EPS * size * (size + 2 * sqrt(query_square));
}

static const double *take_query(search *s, int64_t i) {
    for (int64_t f = 0; f < s->d; f++) s->query[f] = s->queries[i * s->d + f];
    return s->query;
}

/* Write the nearest centres of each query to cells, ordered by distance and then by number. */
static int64_t nearest_cells(search *s) {
    const int64_t n = s->n_cells, d = s->d;
    float *values = room(s->b * n, sizeof(float)), *sorted = room(n, sizeof(float)), *norms = room(n, sizeof(float));
    if (!values || !sorted || !norms) goto done;
    double largest = 0;
    for (int64_t c = 0; c < n; c++) {
        const double square = squared_norm(s->centers + c * d, d);
        norms[c] = (float)square;
        if (square > largest) largest = square;
    }
    largest = sqrt(largest);
    if (s->b > FEW) multiply(s->queries, s->centers, norms, s->b, n, d, values);
    for (int64_t i = 0; i < s->b; i++) {
        const double *query = take_query(s, i);
        int64_t *cells = s->cells + i * s->visits, filled = 0;
        const float *rough = values + i * n;
        if (s->b <= FEW) multiply_one(s->queries + i * d, s->centers, n, d, values + i * n);
        memcpy(sorted, rough, (size_t)n * sizeof(float));
        const double slack = rounding(d, largest, squared_norm(s->queries + i * d, d));
        const double limit = smallest_of(sorted, n, s->visits) + 2 * slack;
        for (int64_t t = 0; t < s->visits; t++) cells[t] = 0; /* in range also if no distance is a number */
        for (int64_t c = 0; c < n; c++) {
            if (!(rough[c] <= limit)) continue;
            const double square = SQUARED_DISTANCE(query, s->centers + c * d, d);
            filled = insert_ordered(s->length, cells, s->visits, filled, square, c, NULL);
        }
    }
done:;
    const int64_t answer = values && sorted && norms ? 0 : NO_MEMORY;
    free(values);
    free(sorted);
    free(norms);
    return answer;
}

/* Write |x|^2 - 2 q'x of the points in the cells of each query to values. All queries that visit a cell are
 * multiplied with its points at once. */
static int64_t multiply_by_cell(search *s) {
    const int64_t *start = s->start, n_cells = s->n_cells, d = s->d, total = s->b * s->visits;
    int64_t *begin = room(n_cells + 2, sizeof(int64_t)), *visit = room(total, sizeof(int64_t));
    float *gathered = NULL, *norms = NULL;
    int64_t answer = NO_MEMORY;
    if (!begin || !visit) goto done;
    /* Sort the visits by cell: those of cell c are visit[begin[c]:begin[c + 1]]. */
    memset(begin, 0, (size_t)(n_cells + 2) * sizeof(int64_t));
    for (int64_t t = 0; t < total; t++) begin[s->cells[t] + 2]++;
    int64_t visitors = 0, members = 0, used = 0;
    for (int64_t c = 0; c < n_cells; c++) {
        const int64_t size = start[c + 1] - start[c];
        visitors = most(visitors, begin[c + 2]);
        members = most(members, size);
        begin[c + 2] += begin[c + 1];
    }
    for (int64_t t = 0; t < total; t++) visit[begin[s->cells[t] + 1]++] = t;
    gathered = room(visitors * d, sizeof(float));
    norms = room(members, sizeof(float));
    if (!gathered || !norms) goto done;
    for (int64_t c = 0; c < n_cells; c++) {
        const int64_t n = start[c + 1] - start[c], count = begin[c + 1] - begin[c];
        const float *points = s->points + start[c] * d;
        float *values = s->values + used;
        for (int64_t v = 0; v < count; v++) {
            const float *query = s->queries + visit[begin[c] + v] / s->visits * d;
            s->first[visit[begin[c] + v]] = used;
            if (count > FEW) memcpy(gathered + v * d, query, (size_t)d * sizeof(float));
            else multiply_one(query, points, n, d, s->values + used);
            used += n;
        }
        if (count <= FEW || n == 0) continue;
        for (int64_t j = 0; j < n; j++) norms[j] = (float)squared_norm(points + j * d, d);
        multiply(gathered, points, norms, count, n, d, values);
    }
    answer = 0;
done:
    free(begin);
    free(visit);
    free(gathered);
    free(norms);
    return answer;
}

/* Move the values up to the limit, and their places, to the front; return their number. */
static int64_t keep_below(search *s, int64_t used, double limit) {
    int64_t kept = 0;
    for (int64_t t = 0; t < used; t++) {
        const float value = s->kept[t];
        s->kept[kept] = value;
        s->places[kept] = s->places[t];
        kept += value <= limit;
    }
    return kept;
}

static double smallest_kept(search *s, int64_t used, int64_t count) {
    memcpy(s->sorted, s->kept, (size_t)used * sizeof(float));
    return smallest_of(s->sorted, used, count);
}

static inline int any_below(const float *values, float limit) {
    int count = 0;
    for (int64_t t = 0; t < CHUNK; t++) count += values[t] <= limit;
    return count > 0;
}

/* Write to places the rows of all points of query i whose values may be among the count smallest; values are
 * those of its points, with errors of at most slack. Return the number of places. */
static int64_t few_smallest(search *s, int64_t i, int64_t count, double slack) {
    const int64_t *cells = s->cells + i * s->visits;
    float limit = INFINITY;
    int64_t used = 0, full = 3 * count + 32;
    for (int64_t t = 0; t < s->visits; t++) {
        const int64_t stop = s->start[cells[t] + 1];
        const float *values = s->values + s->first[i * s->visits + t];
        for (int64_t j = s->start[cells[t]]; j < stop;) {
            const int64_t end = least(j + CHUNK, stop);
            if (end == j + CHUNK && !any_below(values, limit)) {
                values += CHUNK;
                j = end;
            }
            for (; j < end; j++) {
                const float value = *values++;
                s->kept[used] = value;
                s->places[used] = j;
                used += value <= limit;
            }
        }
        if (used > full) {
            limit = (float)(smallest_kept(s, used, count) + 2 * slack);
            used = keep_below(s, used, limit);
            full = most(full, 2 * used); /* many values tie */
        }
    }
    return used > count ? keep_below(s, used, smallest_kept(s, used, count) + 2 * slack) : used;
}

/* Add the offsets of the points of query i to their values; return a bound of the rounding errors. */
static double add_offsets(search *s, int64_t i, const double *offsets) {
    double largest = 0;
    for (int64_t t = 0; t < s->visits; t++) {
        const int64_t c = s->cells[i * s->visits + t];
        float *value = s->values + s->first[i * s->visits + t];
        for (int64_t j = s->start[c]; j < s->start[c + 1]; j++, value++) {
            if (fabs(offsets[j]) > largest) largest = fabs(offsets[j]);
            *value = (float)(*value + offsets[j]);
        }
    }
    return 4 * EPS * largest;
}

/* Write the candidates of query i to near and place (count + others,). */
static void candidates_of(search *s, int64_t i, int64_t count, int64_t others, const double *offsets, double *near,
                          int64_t *place) {
    const double *query = take_query(s, i);
    double size = 0;
    for (int64_t t = 0; t < s->visits; t++) size = fmax(size, s->sizes[s->cells[i * s->visits + t]]);
    double slack = rounding(s->d, size, squared_norm(s->queries + i * s->d, s->d));
    const int64_t few = few_smallest(s, i, count, slack);
    int64_t filled = 0, also = 0;
    for (int64_t t = 0; t < few; t++) {
        const double square = SQUARED_DISTANCE(query, s->points + s->places[t] * s->d, s->d);
        filled = insert_ordered(near, place, count, filled, square, s->places[t], NULL);
    }
    for (int64_t t = filled; t < count + others; t++) {
        near[t] = INFINITY;
        place[t] = -1;
    }
    if (others == 0 || filled < count) return;
    slack += add_offsets(s, i, offsets);
    const int64_t more = few_smallest(s, i, others, slack);
    for (int64_t t = 0; t < more; t++) {
        const int64_t j = s->places[t];
        const double value = SQUARED_DISTANCE(query, s->points + j * s->d, s->d) + offsets[j];
        also = insert_ordered(s->length, s->number, others, also, value, j, NULL);
    }
    const double farthest = near[count - 1];
    for (int64_t t = 0; t < also; t++) {
        const int64_t j = s->number[t];
        const double square = SQUARED_DISTANCE(query, s->points + j * s->d, s->d);
        if (square > farthest || (square == farthest && j > place[count - 1])) {
            near[filled] = square;
            place[filled++] = j;
        }
    }
}

/* Allocate what the search keeps for each query, and multiply it with the points of its cells. */
static int64_t visit_cells(search *s, int64_t others) {
    const int64_t listed = most(others, s->visits);
    s->query = room(s->d, sizeof(double));
    s->length = room(listed, sizeof(double));
    s->number = room(listed, sizeof(int64_t));
    s->cells = room(s->b * s->visits, sizeof(int64_t));
    s->first = room(s->b * s->visits, sizeof(int64_t));
    if (!s->query || !s->length || !s->number || !s->cells || !s->first) return NO_MEMORY;
    const int64_t answer = nearest_cells(s);
    if (answer) return answer;
    int64_t total = 0, longest = 0;
    for (int64_t i = 0; i < s->b; i++) {
        const int64_t before = total;
        for (int64_t t = 0; t < s->visits; t++) {
            const int64_t c = s->cells[i * s->visits + t];
            total += s->start[c + 1] - s->start[c];
        }
        longest = most(longest, total - before);
    }
    s->values = room(total, sizeof(float));
    s->kept = room(longest + 1, sizeof(float));
    s->sorted = room(longest + 1, sizeof(float));
    s->places = room(longest + 1, sizeof(int64_t));
    if (!s->values || !s->kept || !s->sorted || !s->places) return NO_MEMORY;
    return multiply_by_cell(s);
}

/* find_candidates(queries, centers, start, points, sizes, offsets, visits, count, near, place): find the nearest
 * points to each query in the `visits` cells with the nearest centres.
 *
 * The points of cell c are the rows start[c] to start[c + 1] of points (n, d), and sizes (cells,) are the largest
 * norms of the points of each cell. Squared distances are written to near and rows to place, both (b, w): the
 * `count` nearest points in ascending order, then those of the w - count points with the smallest |q - x|^2 +
 * offset_x that are not among them. Rows that are missing are -1. offsets (n,) may be empty if w = count.
 *
 * Matrix products in single precision select cells and points. All that are in doubt by rounding are then compared
 * by sums in double precision, so that the result does not depend on the other queries. */
int64_t NAME(find_candidates)(const argument *a) {
    search s = {.queries = a[0].data, .centers = a[1].data, .start = a[2].data, .points = a[3].data,
                .sizes = a[4].data, .b = a[0].shape[0], .d = a[0].shape[1], .n_cells = a[1].shape[0],
                .visits = a[6].n};
    const double *offsets = a[5].data;
    const int64_t n = a[3].shape[0], count = a[7].n, width = a[8].shape[1];
    double *near = a[8].data;
    int64_t *place = a[9].data;
    if (!blas_sgemm) return NO_BLAS;
    REQUIRE_SHAPE(s.d >= 1 && a[1].shape[1] == s.d && a[3].shape[1] == s.d && a[2].size == s.n_cells + 1 &&
                  a[4].size == s.n_cells && s.visits >= 1 && s.visits <= s.n_cells && count >= 1 && count <= width);
    const int64_t others = width - count;
    REQUIRE_SHAPE(a[8].shape[0] == s.b && a[9].shape[0] == s.b && a[9].shape[1] == width);
    REQUIRE_SHAPE(others == 0 || a[5].size == n);
    REQUIRE_SHAPE(most(most(n, s.d), most(s.n_cells, s.b)) <= INT_MAX && s.b * s.visits <= INT_MAX); /* for the BLAS */
    for (int64_t c = 0; c < s.n_cells; c++)
        REQUIRE_INDEX(s.start[c] >= 0 && s.start[c] <= s.start[c + 1] && s.start[c + 1] <= n);
    if (s.b == 0) return 0;
    const int64_t answer = visit_cells(&s, others);
    for (int64_t i = 0; i < s.b && answer == 0; i++)
        candidates_of(&s, i, count, others, offsets, near + i * width, place + i * width);
    free(s.query);
    free(s.length);
    free(s.number);
    free(s.cells);
    free(s.first);
    free(s.values);
    free(s.kept);
    free(s.sorted);
    free(s.places);
    return answer;
}
#endif
