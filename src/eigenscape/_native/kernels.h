/* All loops: name, and the types of the arguments.
 *
 * An array is a letter and its number of axes: d float64, f float32, l int64, i int32, u uint64, b one byte
 * (bool, int8 or uint8); r, s and j are REAL, OTHER and INDEX, one type each in a call. A capital letter is an
 * array that the loop writes to. Scalars are n, an integer, and x, a number. LOOP_R, LOOP_RJ and so on say
 * for which of r, s and j the source file is compiled. */

/* cells.c */


/* nearest.c */


/* select.c */


/* ranks.c */


/* rows.c */
LOOP_RJ(kth_in_rows, "j1 r1 n R1")


/* paths.c */
LOOP_J(shortest_paths, "j1 j1 d1 l1 l1 d1 D2")
LOOP_J(update_nearest_source, "j1 j1 d1 n x D1")
LOOP_RJ(shortest_through, "j1 j1 d1 r2 R2")
LOOP_RJ(store_rows, "d2 j1 l1 R2")
LOOP_J(half_square_products, "j1 j1 d1 d2 d2 n D2")


/* elimination.c */
LOOP_J(minimum_degree, "j1 j1 x U2 I1 L1")
LOOP(depth_first, "u2 i1 l1 I1 I1 L1 I1")
LOOP_J(eliminate, "j1 j1 d1 i1 i1 l1 i1 D1 D2")
LOOP(sweep, "l1 i1 d1 d2 l1 l1 d1 D2")


/* dense_paths.c */
LOOP(eliminate_within, "D2 n n")
LOOP(eliminate_from, "D2 n n n n n")
LOOP(later_edges, "d2 n n L1 L1 D1")
LOOP(distances_to, "D2 n n l1 l1 d1 n n n")
LOOP(distances_within, "D2 n n l1 l1 d1")


/* graphs.c */
LOOP_J(sorted_lists, "d2 j2 x J1 D1")
LOOP_RJ(transpose_columns, "j1 j1 r1 n n J1 J1 R1")
LOOP_J(breadth_first, "j1 j1 n I1 I1 L1")
LOOP_J(count_union, "j1 j1 j1 j1 n n J1")
LOOP_J(merge_rows, "j1 j1 d1 j1 j1 d1 n n j1 J1 D1")


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

