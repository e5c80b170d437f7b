/* Selection of the smallest values from blocks of distances. */
#define SOURCE "select.c"
#define REALS
#ifndef BODY
#include "search.h"
#define STEP 32
#include "each.h"
#else

/* Insert the values of a row (n,), with numbers from `first`, into a list ordered by value and then by number
 * that holds `filled` of at most k; return how many it holds then. */
static int64_t NAME(insert_row)(const REAL *row, int64_t n, int64_t first, int64_t k, int64_t filled, double *length,
                                int64_t *number) {
    int64_t j = 0;
    for (; j < n && filled < k; j++) filled = insert_ordered(length, number, k, filled, row[j], first + j, NULL);
    while (j < n) {
        /* Most values are larger than the last of the list: compare many at once. */
        if (j + STEP <= n) {
            const double last = length[k - 1];
            int any = 0;
            for (int t = 0; t < STEP; t++) any |= row[j + t] < last;
            if (!any) { j += STEP; continue; }
        }
        for (const int64_t stop = least(j + STEP, n); j < stop; j++)
            if (row[j] < length[k - 1]) insert_ordered(length, number, k, k, row[j], first + j, NULL);
    }
    return filled;
}

/* smallest_values_in_rows(values, length, number): find the k smallest values of each row, by value and then by
 * column number. Values are written to length and column numbers to number, both (b, k). */
int64_t NAME(smallest_values_in_rows)(const argument *a) {
    const REAL *values = a[0].data;
    double *length = a[1].data;
    int64_t *number = a[2].data;
    const int64_t b = a[0].shape[0], n = a[0].shape[1], k = a[1].shape[1];
    REQUIRE_SHAPE(a[1].shape[0] == b && a[2].shape[0] == b && a[2].shape[1] == k && k >= 1 && k <= n);
    for (int64_t i = 0; i < b; i++) NAME(insert_row)(values + i * n, n, 0, k, 0, length + i * k, number + i * k);
    return 0;
}

/* update_smallest(values, first, filled, smallest, number): insert the values (b, n) of the columns from number
 * `first` into lists of the smallest of each row, by value and then by column number. The lists smallest and
 * number (b, k) hold `filled` values. Answers how many they hold then. */
int64_t NAME(update_smallest)(const argument *a) {
    const REAL *values = a[0].data;
    const int64_t first = a[1].n, filled = a[2].n;
    double *smallest = a[3].data;
    int64_t *number = a[4].data;
    const int64_t b = a[0].shape[0], n = a[0].shape[1], k = a[3].shape[1];
    REQUIRE_SHAPE(a[3].shape[0] == b && a[4].shape[0] == b && a[4].shape[1] == k && k >= 1);
    REQUIRE_INDEX(filled >= 0 && filled <= k && first >= 0 && first <= INT64_MAX - n);
    for (int64_t i = 0; i < b; i++)
        NAME(insert_row)(values + i * n, n, first, k, filled, smallest + i * k, number + i * k);
    return b > 0 ? least(filled + n, k) : filled;
}

/* closest_between_groups(values, rows, row_group, group, length, near, far): update the smallest value between
 * each pair of groups, the row's group being the larger number. The values (b, n) belong to the rows `rows` (b,)
 * of groups row_group (b,); group (n,) are the groups of the columns. length, near and far (groups, groups) hold
 * the smallest value of each pair, its row and its column. */
int64_t NAME(closest_between_groups)(const argument *a) {
    const REAL *values = a[0].data;
    const int64_t *rows = a[1].data, *row_group = a[2].data, *group = a[3].data;
    double *length = a[4].data;
    int64_t *near = a[5].data, *far = a[6].data;
    const int64_t b = a[0].shape[0], n = a[0].shape[1], count = a[4].shape[0];
    REQUIRE_SHAPE(a[1].size == b && a[2].size == b && a[3].size == n && a[4].shape[1] == count);
    for (int s = 5; s < 7; s++) REQUIRE_SHAPE(a[s].shape[0] == count && a[s].shape[1] == count);
    for (int64_t i = 0; i < b; i++) REQUIRE_INDEX(WITHIN(row_group[i], count));
    for (int64_t j = 0; j < n; j++) REQUIRE_INDEX(WITHIN(group[j], count));
    double *limit = room(count, sizeof(double)); /* to be below, in the row's group */
    if (!limit) return NO_MEMORY;
    for (int64_t i = 0; i < b; i++) {
        const int64_t mine = row_group[i];
        const REAL *row = values + i * n;
        for (int64_t h = 0; h < count; h++) limit[h] = h < mine ? length[mine * count + h] : -INFINITY;
        for (int64_t j = 0; j < n;) {
            if (j + 4 <= n) {
                int any = 0;
                for (int t = 0; t < 4; t++) any |= row[j + t] < limit[group[j + t]];
                if (!any) { j += 4; continue; }
            }
            for (const int64_t stop = least(j + 4, n); j < stop; j++) {
                if (!(row[j] < limit[group[j]])) continue;
                const int64_t pair = mine * count + group[j];
                length[pair] = limit[group[j]] = row[j];
                near[pair] = rows[i];
                far[pair] = j;
            }
        }
    }
    free(limit);
    return 0;
}
#endif
