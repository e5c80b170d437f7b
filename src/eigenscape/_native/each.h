/* Compiles SOURCE once for each type of numbers that its loops accept.
 *
 * A source file defines SOURCE, its own name, and any of REALS, OTHERS and INDICES, includes this file, and
 * puts its loops between #ifdef BODY and #endif. There REAL and OTHER are float or double, INDEX is int32_t or
 * int64_t. TYPES is a letter for each: f or d, f or d, i or l; d, d and l where a file does not choose. */
#define BODY

#define REAL double
#define OTHER double
#define INDEX int64_t
#define TYPES ddl
#include SOURCE
#undef INDEX
#undef TYPES

#ifdef INDICES
#define INDEX int32_t
#define TYPES ddi
#include SOURCE
#undef INDEX
#undef TYPES
#endif

#ifdef OTHERS
#undef OTHER
#define OTHER float
#define INDEX int64_t
#define TYPES dfl
#include SOURCE
#undef INDEX
#undef TYPES
#ifdef INDICES
#define INDEX int32_t
#define TYPES dfi
#include SOURCE
#undef INDEX
#undef TYPES
#endif
#undef OTHER
#define OTHER double
#endif

#ifdef REALS
#undef REAL
#define REAL float
#define INDEX int64_t
#define TYPES fdl
#include SOURCE
#undef INDEX
#undef TYPES
#ifdef INDICES
#define INDEX int32_t
#define TYPES fdi
#include SOURCE
#undef INDEX
#undef TYPES
#endif
#ifdef OTHERS
#undef OTHER
#define OTHER float
#define INDEX int64_t
#define TYPES ffl
#include SOURCE
#undef INDEX
#undef TYPES
#ifdef INDICES
#define INDEX int32_t
#define TYPES ffi
#include SOURCE
#undef INDEX
#undef TYPES
#endif
#endif
#endif

#undef BODY
