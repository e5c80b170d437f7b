/* The table of loops for each processor: kernels.h, read once to declare and once to list. */
#define LOOP(name, arguments) DECLARE(name, ddl)
#define LOOP_J(name, arguments) DECLARE(name, ddl) DECLARE(name, ddi)
#define LOOP_R(name, arguments) DECLARE(name, ddl) DECLARE(name, fdl)
#define LOOP_RJ(name, arguments) LOOP_J(name, arguments) DECLARE(name, fdl) DECLARE(name, fdi)
#define LOOP_RS(name, arguments) LOOP_R(name, arguments) DECLARE(name, dfl) DECLARE(name, ffl)
#define LOOP_RSJ(name, arguments) LOOP_RJ(name, arguments) DECLARE(name, dfl) DECLARE(name, ffl) DECLARE(name, dfi) DECLARE(name, ffi)
#ifdef HAS_V3
#define VARIANT v3
#include "kernels.h"
#undef VARIANT
#define VARIANT v2
#include "kernels.h"
#undef VARIANT
#else
#define VARIANT base
#include "kernels.h"
#undef VARIANT
#endif
#undef LOOP
#undef LOOP_J
#undef LOOP_R
#undef LOOP_RJ
#undef LOOP_RS
#undef LOOP_RSJ

/* In the order of type_letters: ddl, ddi, dfl, dfi, fdl, fdi, ffl, ffi. */
#define LOOP(name, arguments) {#name, arguments, {AT(name, ddl), 0, 0, 0, 0, 0, 0, 0}},
#define LOOP_J(name, arguments) {#name, arguments, {AT(name, ddl), AT(name, ddi), 0, 0, 0, 0, 0, 0}},
#define LOOP_R(name, arguments) {#name, arguments, {AT(name, ddl), 0, 0, 0, AT(name, fdl), 0, 0, 0}},
#define LOOP_RJ(name, arguments) {#name, arguments, {AT(name, ddl), AT(name, ddi), 0, 0, AT(name, fdl), AT(name, fdi), 0, 0}},
#define LOOP_RS(name, arguments) {#name, arguments, {AT(name, ddl), 0, AT(name, dfl), 0, AT(name, fdl), 0, AT(name, ffl), 0}},
#define LOOP_RSJ(name, arguments) \
    {#name, arguments, {AT(name, ddl), AT(name, ddi), AT(name, dfl), AT(name, dfi), AT(name, fdl), AT(name, fdi), AT(name, ffl), AT(name, ffi)}},
#ifdef HAS_V3
#define FIRST_TABLE kernels_v3
#define VARIANT v3
static const kernel kernels_v3[] = {
#include "kernels.h"
};
#undef VARIANT
#define VARIANT v2
static const kernel kernels_v2[] = {
#include "kernels.h"
};
#undef VARIANT
#else
#define FIRST_TABLE kernels_base
#define VARIANT base
static const kernel kernels_base[] = {
#include "kernels.h"
};
#undef VARIANT
#endif
