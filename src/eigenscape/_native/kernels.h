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


/* elimination.c */


/* dense_paths.c */


/* graphs.c */


/* hierarchy.c */
LOOP_RJ(reorder_rows, "j1 j1 r1 j1 j1 n n j1 J1 R1")
LOOP_RJ(group_vertices, "j1 j1 r1 x I1")
LOOP_J(product_size, "j1 j1 j1 n n")
LOOP_J(multiply_sparse, "j1 j1 d1 j1 j1 d1 n n n L1 J1 D1")
LOOP_J(smooth_rows, "j1 j1 D1 i1 d1 d1")
LOOP_RJ(first_residual, "j1 j1 r1 r1 r2 n n R2")
LOOP_RJ(correct_rows, "j1 j1 r1 r1 r2 r2 n n R2")
LOOP_RJ(relax_rows, "j1 j1 r1 r1 r2 r2 n n R2")

/* gradients.c */
LOOP(products_with, "d2 d2 d2 d2 n n D2")
LOOP(next_direction, "d2 d2 d2 d1 n n D2")
LOOP(subtract_scaled, "d2 d1 n n D2")
LOOP(advance_solution, "d2 d2 D2 d2 d1 n n D2 D2 D2 D1")
LOOP(divide_columns, "d2 d1 n n F2")
LOOP(multiply_columns, "f2 d1 n n D2")

/* lanczos.c */
LOOP_J(multiply_shifted, "j1 j1 d1 x D2 n x D1 D1")
LOOP(project_out, "d2 n D1 D1 D1")

/* products.c */
LOOP_RJ(multiply_rows, "j1 j1 r1 r2 n n R2")

/* dense_products.c */
LOOP_R(multiply_dense, "r2 d2 n n D2")

/* tiles.c */
LOOP(exponential_tile, "D1 n d1 d1")

/* kmeans.c */
LOOP(seed_centers, "d2 d1 d2 D2")
LOOP(improve_centers, "d2 d1 D2 n x D1")


/* descent.c */


/* fuzzy.c */


/* hashing.c */


/* layout.c */


/* majorize.c */


/* mixtures.c */


/* parzen.c */


/* splines.c */

