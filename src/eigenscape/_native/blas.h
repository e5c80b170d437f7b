/* The matrix product of SciPy's BLAS, set when it is first needed. */
#ifndef EIGENSCAPE_BLAS_H
#define EIGENSCAPE_BLAS_H

typedef void (*sgemm_function)(char *, char *, int *, int *, int *, float *, const float *, int *, const float *, int *,
                               float *, float *, int *);
extern sgemm_function blas_sgemm;

#endif
