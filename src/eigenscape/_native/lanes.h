/* Vectors of four or eight numbers, the same sums on every processor. */
#ifndef EIGENSCAPE_LANES_H
#define EIGENSCAPE_LANES_H

#include <stdint.h>
#include <string.h>

typedef double double4 __attribute__((vector_size(32)));
typedef float float8 __attribute__((vector_size(32)));

static inline double4 four_doubles(const double *x) {
    double4 out;
    memcpy(&out, x, sizeof(out));
    return out;
}

static inline double4 four_floats(const float *x) {
    return (double4){x[0], x[1], x[2], x[3]};
}

static inline void put_doubles(double *x, double4 value) { memcpy(x, &value, sizeof(value)); }

/* Four numbers of type REAL as doubles. */
#define FOUR(x) _Generic((x), const float *: four_floats, float *: four_floats, default: four_doubles)(x)

/* PACK: numbers of type REAL in one register, PACKED of them, at most four. Wider vectors than a register are slow.
 * Results of sums over the rows of a block, in which each lane is a column, do not depend on the number of lanes. */
typedef double double2 __attribute__((vector_size(16)));
typedef float float4 __attribute__((vector_size(16)));
#ifdef __AVX__
#define PACK_double double4
#else
#define PACK_double double2
#endif
#define PACK_float float4
#define PACK_OF_(type) PACK_##type
#define PACK_OF(type) PACK_OF_(type)
#define PACK PACK_OF(REAL)
#define PACKED ((int)(sizeof(PACK) / sizeof(REAL)))
#define GET(pack, x) memcpy(&(pack), x, sizeof(pack))
#define PUT(pack, x) memcpy(x, &(pack), sizeof(pack))

/* Keeps a vector that is used twice in a register; gcc would read it twice. */
#if defined(__x86_64__) && defined(__GNUC__)
#define IN_REGISTER(pack) __asm__("" : "+x"(pack))
#else
#define IN_REGISTER(pack) (void)(pack)
#endif

static inline double sum_lanes(double4 a) { return (a[0] + a[1]) + (a[2] + a[3]); }

#endif
