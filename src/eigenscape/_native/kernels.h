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

