/* The one definition of the function that set_blas sets. */
#include "blas.h"

sgemm_function blas_sgemm = 0;
