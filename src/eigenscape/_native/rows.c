/* Order statistics of the rows of a sparse matrix. */
#define SOURCE "rows.c"
#define REALS
#define INDICES
#ifndef BODY
#include "native.h"
#include "each.h"
#else

/* kth_in_rows(indptr, data, k, kth): write the k-th smallest stored value of each row to kth, or the largest
 * if there are fewer; 0 for rows without values. */
int64_t NAME(kth_in_rows)(const argument *a) {
    const INDEX *indptr = a[0].data;
    const REAL *data = a[1].data;
    const int64_t k = a[2].n, n = a[3].size;
    REAL *kth = a[3].data;
    REQUIRE_SHAPE(a[0].size == n + 1 && k >= 1);
    REAL *best = room(k, sizeof(REAL));
    if (!best) return NO_MEMORY;
    int64_t answer = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = indptr[i], last = indptr[i + 1];
        if (first < 0 || last > a[1].size) { answer = BAD_INDEX; break; }
        int64_t filled = 0;
        for (int64_t t = first; t < last; t++) {
            const REAL value = data[t];
            int64_t place;
            if (filled < k) place = filled++;
            else if (value < best[k - 1]) place = k - 1;
            else continue;
            for (; place > 0 && best[place - 1] > value; place--) best[place] = best[place - 1];
            best[place] = value;
        }
        kth[i] = filled > 0 ? best[filled - 1] : 0;
    }
    free(best);
    return answer;
}
#endif
