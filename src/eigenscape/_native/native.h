/* What every loop sees: its arguments, the types it is compiled for, and what it may answer.
 *
 * A loop is `int64_t NAME(name)(const argument *a)`. It allocates nothing that it does not free, starts no
 * thread, and checks that its arguments fit together before it reads them. kernels.h lists all loops. */
#ifndef EIGENSCAPE_NATIVE_H
#define EIGENSCAPE_NATIVE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* An array (data, shape; sizes of axes that it does not have are 1), an integer (n) or a number (x). */
typedef struct {
    void *data;
    int64_t shape[3];
    int64_t size; /* number of elements */
    int64_t n;
    double x;
} argument;

typedef int64_t (*loop)(const argument *);

/* Answers that become Python exceptions; others are numbers of at least -1. */
#define NO_MEMORY INT64_MIN           /* MemoryError */
#define BAD_SHAPE (INT64_MIN + 1)     /* ValueError: sizes of arrays do not fit together */
#define BAD_INDEX (INT64_MIN + 2)     /* ValueError: an index is out of range */
#define NO_BLAS (INT64_MIN + 3)       /* RuntimeError: set_blas was not called */

/* Leaves a loop that owns no memory. */
#define REQUIRE_SHAPE(condition) do { if (!(condition)) return BAD_SHAPE; } while (0)
#define REQUIRE_INDEX(condition) do { if (!(condition)) return BAD_INDEX; } while (0)
/* True for 0 <= i < n, by one comparison. */
#define WITHIN(i, n) ((uint64_t)(i) < (uint64_t)(n))

/* More iterations of a loop are refused. */
#define MOST_STEPS (INT64_C(1) << 20)

#define JOIN_(a, b, c) a##_##b##_##c
#define JOIN(a, b, c) JOIN_(a, b, c)
/* The symbol of a loop: its name, the types, and the processor that it is compiled for. */
#define NAME(name) JOIN(name, TYPES, VARIANT)

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Room for `count` elements, or NULL; a count of 0 has room for one. */
static inline void *room(int64_t count, size_t size) {
    if (count < 0 || (uint64_t)count > (SIZE_MAX >> 1) / size) return NULL;
    return malloc((size_t)(count > 0 ? count : 1) * size);
}

#endif
