/* All loops: name, and the types of the arguments.
 *
 * An array is a letter and its number of axes: d float64, f float32, l int64, i int32, u uint64, b one byte
 * (bool, int8 or uint8); r, s and j are REAL, OTHER and INDEX, one type each in a call. A capital letter is an
 * array that the loop writes to. Scalars are n, an integer, and x, a number. LOOP_R, LOOP_RJ and so on say
 * for which of r, s and j the source file is compiled. */

/* cells.c */
LOOP(find_candidates, "f2 f2 l1 f2 d1 d1 n n D2 L2")


/* rerank.c */
LOOP_R(rerank, "r2 r2 l1 l2 d2 n f1 f1 f1 f1 d1 l1 D2 L2 L1 L1 L1 D1")


/* nearest.c */
LOOP_RS(nearest_exact, "d2 r2 s2 d1 d1 l1 D2 L2")
LOOP_RS(nearest_or_within, "d2 r2 s2 d1 d1 l1 d1 n n L1 L1 D1")
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
LOOP_RJ(forces, "n n d2 j1 j1 d1 r2 d1 x D1 D2 D2")
LOOP(move, "D2 d2 d2 x x x x x D2 D2")


/* fuzzy.c */
LOOP(fuzzy_widths, "d2 d1 x D1")
LOOP(concordance, "d1 d1 n n D1 D1")


/* hashing.c */
LOOP(column_multipliers, "U1")
LOOP(hash_dense, "u2 u1 U1")
LOOP_J(hash_sparse, "j1 j1 u1 u1 U1")


/* layout.c */
LOOP_J(place_on_map, "n n j1 j1 d1 d2 d2 d1 x n x n D2")


/* majorize.c */
LOOP(place_at_distances, "d2 d2 D2 x n")


/* mixtures.c */
LOOP(count_members, "d2 x D1 D1 L1")
LOOP(fill_members, "d2 x d1 d1 l1 I1 D1 D1")
LOOP_J(mix_affine, "d2 j1 j1 d1 d2 d3 d2 D2")
LOOP_J(mark_members, "l1 j1 j1 B1")
LOOP_J(local_coordinates, "l1 d2 j1 j1 d1 d2 d3 n l1 D3")


/* parzen.c */
LOOP(parzen_log_densities, "d2 d2 d2 d3 l1 d1 d3 D3")


/* splines.c */
LOOP_R(spread, "d2 d1 x R2")
LOOP_R(spline_values, "r2 d1 x d2 D1")

