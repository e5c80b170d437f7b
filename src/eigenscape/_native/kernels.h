/* All loops: name, and the types of the arguments.
 *
 * An array is a letter and its number of axes: d float64, f float32, l int64, i int32, u uint64, b one byte
 * (bool, int8 or uint8); r, s and j are REAL, OTHER and INDEX, one type each in a call. A capital letter is an
 * array that the loop writes to. Scalars are n, an integer, and x, a number. LOOP_R, LOOP_RJ and so on say
 * for which of r, s and j the source file is compiled. */

/* cells.c */
LOOP(find_candidates, "f2 f2 l1 f2 d1 d1 n n D2 L2")


/* rerank.c */
LOOP_R(rerank, "r2 r2 l1 l2 d2 n f1 f1 f1 f1 d1 D2 L2 L1 L1 L1 D1")


/* nearest.c */
LOOP_RS(nearest_exact, "d2 r2 s2 d1 d1 D2 L2")
LOOP_RS(nearest_and_within, "d2 r2 s2 d1 d1 d1 n D2 L2 L1 L1 D1")
LOOP_RS(closest_to_groups, "d2 r2 s2 d1 d1 l1 D1 L1 L1")


/* select.c */
LOOP_R(smallest_values_in_rows, "r2 D2 L2")
LOOP_R(update_smallest, "r2 n n D2 L2")
LOOP_R(closest_between_groups, "r2 l1 l1 l1 D2 L2 L2")


/* ranks.c */
LOOP(count_below, "d2 d2 L2")


/* rows.c */
LOOP_RJ(kth_in_rows, "j1 r1 n R1")


/* paths.c */


/* elimination.c */


/* dense_paths.c */


/* graphs.c */


/* hierarchy.c */


/* lanczos.c */


/* products.c */


/* tiles.c */


/* kmeans.c */


/* descent.c */


/* fuzzy.c */


/* hashing.c */


/* layout.c */


/* majorize.c */


/* mixtures.c */


/* parzen.c */


/* splines.c */

