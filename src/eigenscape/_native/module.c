/* The extension module eigenscape._native.loops: one strict function call for all loops.
 *
 * Every array is checked at every call: type, number of axes, contiguity, alignment, and whether it may be
 * written to. The loop runs without the GIL. See docs/decisions/native-loops.md. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#ifdef HAS_V3
#include <cpuid.h>
#endif

#include "blas.h"
#include "native.h"
#include "paths.h"

#define MAX_ARGUMENTS 24
#define N_TYPES 8

/* Names of types: real, other, index. */
static const char *const type_letters[N_TYPES] = {"ddl", "ddi", "dfl", "dfi", "fdl", "fdi", "ffl", "ffi"};

typedef struct {
    const char *name;
    const char *arguments;
    loop functions[N_TYPES]; /* by type, NULL where there is none */
} kernel;

#define GLUE_(name, types, variant) name##_##types##_##variant
#define GLUE(name, types, variant) GLUE_(name, types, variant)
#define DECLARE(name, types) extern int64_t GLUE(name, types, VARIANT)(const argument *);
#define AT(name, types) GLUE(name, types, VARIANT)

#include "tables.h"

typedef struct {
    const char *name;
    const kernel *kernels;
} variant;

#ifdef HAS_V3
static const variant variants[] = {{"v3", kernels_v3}, {"v2", kernels_v2}};
#else
static const variant variants[] = {{"base", kernels_base}};
#endif
#define N_VARIANTS ((int)(sizeof(variants) / sizeof(variants[0])))
#define N_KERNELS ((Py_ssize_t)(sizeof(FIRST_TABLE) / sizeof(FIRST_TABLE[0])))

static int active; /* index in variants */

/* Whether the processor has AVX2, BMI and BMI2, and the system saves the wide registers. */
static int runs_v3(void) {
#ifdef HAS_V3
    unsigned int eax, ebx, ecx, edx, low, high;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx >> 27 & 1)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6 || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return 0;
    return (ebx >> 5 & 1) && (ebx >> 3 & 1) && (ebx >> 8 & 1);
#else
    return 0;
#endif
}

/* The letter of a buffer's type, or 0. Numbers in foreign byte order have formats of two letters. */
static char letter_of(const Py_buffer *view) {
    const char *format = view->format ? view->format : "B";
    if (format[0] == '\0' || format[1] != '\0') return 0;
    switch (format[0]) {
    case 'd': return 'd';
    case 'f': return 'f';
    case '?': case 'b': case 'B': return 'b';
    case 'i': case 'l': case 'q': return view->itemsize == 8 ? 'l' : 'i';
    case 'L': case 'Q': return view->itemsize == 8 ? 'u' : 0;
    default: return 0;
    }
}

static const char *words_of(char letter) {
    switch (letter) {
    case 'd': return "float64";
    case 'f': return "float32";
    case 'l': return "int64";
    case 'i': return "int32";
    case 'u': return "uint64";
    case 'b': return "bool, int8 or uint8";
    case 'j': return "int32 or int64, as its other indices";
    default: return "float32 or float64, as its other numbers";
    }
}

/* Take the type of an array for r, s or j, or compare it with the one before; return whether it fits. */
static int fits(char wanted, char found, char chosen[3]) {
    int which = wanted == 'r' ? 0 : wanted == 's' ? 1 : wanted == 'j' ? 2 : -1;
    if (which < 0) return found == wanted;
    if (which < 2 ? found != 'd' && found != 'f' : found != 'l' && found != 'i') return 0;
    if (chosen[which] == 0) chosen[which] = found;
    return chosen[which] == found;
}

/* Describe one array; the buffer is held until the loop has ended. */
static int take_array(const kernel *k, int place, PyObject *object, const char *code, Py_buffer *view, argument *out,
                      char chosen[3]) {
    const int writes = code[0] < 'a';
    const char wanted = (char)(writes ? code[0] + ('a' - 'A') : code[0]);
    const int ndim = code[1] - '0';
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (writes ? PyBUF_WRITABLE : 0)) < 0) {
        PyErr_Clear();
        view->obj = NULL;
        PyErr_Format(PyExc_ValueError, "argument %d of %s must be a C-contiguous array%s", place, k->name,
                     writes ? " that can be written to" : "");
        return -1;
    }
    const char found = letter_of(view);
    if (!fits(wanted, found, chosen)) {
        PyErr_Format(PyExc_TypeError, "argument %d of %s must be an array of type %s, got the format '%s'", place,
                     k->name, words_of(wanted), view->format ? view->format : "B");
        return -1;
    }
    if (view->ndim != ndim) {
        PyErr_Format(PyExc_ValueError, "argument %d of %s must have %d axes, got %d", place, k->name, ndim, view->ndim);
        return -1;
    }
    if ((uintptr_t)view->buf % (uintptr_t)view->itemsize) {
        PyErr_Format(PyExc_ValueError, "argument %d of %s must be aligned", place, k->name);
        return -1;
    }
    out->data = view->buf;
    out->size = 1;
    for (int i = 0; i < 3; i++) {
        out->shape[i] = i < ndim ? (int64_t)view->shape[i] : 1;
        out->size *= out->shape[i];
    }
    return 0;
}

static int take_scalar(const kernel *k, int place, PyObject *object, char code, argument *out) {
    if (code == 'x') {
        out->x = PyFloat_AsDouble(object);
    } else {
        PyObject *number = PyNumber_Index(object);
        out->n = number ? PyLong_AsLongLong(number) : -1;
        Py_XDECREF(number);
    }
    if (PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "argument %d of %s must be %s", place, k->name,
                     code == 'x' ? "a number" : "an integer of at most 64 bits");
        return -1;
    }
    return 0;
}

static loop function_for(const kernel *k, const char chosen[3]) {
    char wanted[4] = {chosen[0] ? chosen[0] : 'd', chosen[1] ? chosen[1] : 'd', chosen[2] ? chosen[2] : 'l', 0};
    for (int t = 0; t < N_TYPES; t++)
        if (strcmp(type_letters[t], wanted) == 0) return k->functions[t];
    return NULL;
}

static PyObject *answer(const kernel *k, int64_t value) {
    if (value == NO_MEMORY) return PyErr_NoMemory();
    if (value == BAD_SHAPE) {
        PyErr_Format(PyExc_ValueError, "the sizes of the arguments of %s do not fit together", k->name);
        return NULL;
    }
    if (value == BAD_INDEX) {
        PyErr_Format(PyExc_ValueError, "an index among the arguments of %s is out of range", k->name);
        return NULL;
    }
    if (value == NO_BLAS) {
        PyErr_Format(PyExc_RuntimeError, "%s multiplies matrices; call set_blas before it", k->name);
        return NULL;
    }
    return PyLong_FromLongLong(value);
}

static PyObject *call(PyObject *self, PyObject *const *objects, Py_ssize_t count) {
    const Py_ssize_t number = (Py_ssize_t)(intptr_t)PyCapsule_GetPointer(self, "eigenscape.loop") - 1;
    const kernel *k = &variants[active].kernels[number];
    argument arguments[MAX_ARGUMENTS] = {{0}};
    Py_buffer views[MAX_ARGUMENTS];
    char chosen[3] = {0, 0, 0};
    int held = 0, place = 0;
    PyObject *result = NULL;
    const char *code = k->arguments;
    for (; *code; place++) {
        if (place == count) break;
        const int is_array = code[1] >= '0' && code[1] <= '9';
        if (is_array) {
            if (take_array(k, place + 1, objects[place], code, &views[held], &arguments[place], chosen) < 0) {
                held += views[held].obj != NULL;
                goto done;
            }
            held++;
        } else if (take_scalar(k, place + 1, objects[place], code[0], &arguments[place]) < 0) {
            goto done;
        }
        code += is_array ? 2 : 1;
        while (*code == ' ') code++;
    }
    if (*code || place != count) {
        PyErr_Format(PyExc_TypeError, "%s takes other arguments than these %zd: %s", k->name, count, k->arguments);
        goto done;
    }
    const loop function = function_for(k, chosen);
    if (!function) {
        PyErr_Format(PyExc_TypeError, "%s is not compiled for arrays of these types", k->name);
        goto done;
    }
    int64_t value;
    Py_BEGIN_ALLOW_THREADS
    value = function(arguments);
    Py_END_ALLOW_THREADS
    result = answer(k, value);
done:
    while (held > 0) PyBuffer_Release(&views[--held]);
    return result;
}

/* select(name): run the loops compiled for another processor, and return the name of those before. */
static PyObject *select_variant(PyObject *self, PyObject *wanted) {
    (void)self;
    for (int i = 0; i < N_VARIANTS; i++) {
        if (PyUnicode_CompareWithASCIIString(wanted, variants[i].name) == 0) {
            if (strcmp(variants[i].name, "v3") == 0 && !runs_v3()) break;
            const char *before = variants[active].name;
            active = i;
            return PyUnicode_FromString(before);
        }
    }
    PyErr_Format(PyExc_ValueError, "this processor or this build has no loops %R", wanted);
    return NULL;
}

/* set_blas(capsule): the function sgemm of SciPy, which loops call. */
static PyObject *set_blas(PyObject *self, PyObject *capsule) {
    (void)self;
    const char *name = PyCapsule_GetName(capsule);
    if (!name && PyErr_Occurred()) return NULL;
    void *pointer = PyCapsule_GetPointer(capsule, name);
    if (!pointer) return NULL;
    memcpy(&blas_sgemm, &pointer, sizeof(pointer));
    Py_RETURN_NONE;
}

static PyMethodDef call_method = {"loop", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};

static PyMethodDef methods[] = {
    {"select", select_variant, METH_O, "select(name): run the loops compiled for another processor."},
    {"set_blas", set_blas, METH_O, "set_blas(sgemm): the matrix product that loops call."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
    active = N_VARIANTS == 2 && !runs_v3() ? 1 : 0;
    for (Py_ssize_t i = 0; i < N_KERNELS; i++) {
        PyObject *capsule = PyCapsule_New((void *)(intptr_t)(i + 1), "eigenscape.loop", NULL);
        PyObject *function = capsule ? PyCFunction_NewEx(&call_method, capsule, NULL) : NULL;
        Py_XDECREF(capsule);
        if (!function) return -1;
        const int failed = PyModule_AddObjectRef(module, variants[0].kernels[i].name, function);
        Py_DECREF(function);
        if (failed < 0) return -1;
    }
    PyObject *arguments = PyDict_New();
    if (!arguments) return -1;
    for (Py_ssize_t i = 0; i < N_KERNELS; i++) {
        const kernel *k = &variants[0].kernels[i];
        PyObject *text = PyUnicode_FromString(k->arguments);
        const int failed = !text || PyDict_SetItemString(arguments, k->name, text) < 0;
        Py_XDECREF(text);
        if (failed) { Py_DECREF(arguments); return -1; }
    }
    const int failed = PyModule_AddObjectRef(module, "arguments", arguments);
    Py_DECREF(arguments);
    if (failed < 0) return -1;
    PyObject *names = N_VARIANTS == 1 ? Py_BuildValue("(s)", variants[0].name)
                      : runs_v3() ? Py_BuildValue("(ss)", "v3", "v2") : Py_BuildValue("(s)", "v2");
    if (!names) return -1;
    const int not_added = PyModule_AddObjectRef(module, "variants", names);
    Py_DECREF(names);
    return not_added < 0 ? -1 : PyModule_AddIntConstant(module, "LANES", LANES);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "loops", "Loops over points, compiled ahead of time.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_loops(void);
PyMODINIT_FUNC PyInit_loops(void) { return PyModuleDef_Init(&definition); }
