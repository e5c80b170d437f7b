"""Export of maps that are linear or a sum of kernels to ONNX."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from eigenscape._extras import optional_import
from eigenscape._typing import is_sparse
from eigenscape.app.io.archive import one_line, own_version
from eigenscape.app.io.atomic import check_target, whole_file
from eigenscape.app.io.models import check_model, dictionary_size, split_scaler
from eigenscape.dictionary.low_rank import LowRankEigenfunctions, LowRankKernel
from eigenscape.dictionary.source import PairwiseSource, ShiftedLinear
from eigenscape.eigenfunctions import Eigenfunctions, Embedding
from eigenscape.estimators._method import described
from eigenscape.estimators.compact_map import CompactMap, make_compact_map
from eigenscape.exceptions import ModelFileError
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.kernels.pairwise import (
    BoundPairwise,
    Cosine,
    Gaussian,
    Laplace,
    Linear,
    PairwiseKernel,
    Polynomial,
    Sigmoid,
)
from eigenscape.methods.compact import CompactFunctions
from eigenscape.methods.fourier_ridge import FourierMap
from eigenscape.normalize import CenteredKernel

#: Version of the operators, supported since onnxruntime 1.8.
_OPSET, _IR_VERSION = 13, 8
#: Largest difference, relative to the map, between an expansion and the map itself.
_TOLERANCE = 1e-8


def export_onnx(
    model: BaseEstimator,
    path: str | Path,
    *,
    compact: int | bool | None = None,
    dtype: str = "float32",
    force: bool = False,
) -> None:
    """Write ``transform`` of a fitted model as an ONNX graph.

    Linear maps and sums of kernels around training samples, landmarks or a dictionary can be exported: PCA
    and its relatives, ``KernelPCA``, ``ClassicalMDS``, ``LandmarkMDS``, ``GreedySpectralEmbedding`` without
    division, ``ParametricMap`` with its own regression, and a ``CompactMap``. Any other map is approximated
    by a compact one (``compact``).

    Parameters
    ----------
    model : estimator
        A fitted estimator, or a pipeline of a ``StandardScaler`` and a fitted estimator.
    path : str or Path
        The file to write; the usual extension is ``.onnx``.
    compact : int or bool, optional
        Number of training samples of a compact map, or True, as for :func:`eigenscape.save`. By default the
        map is exported exactly.
    dtype : {"float32", "float64"}, default="float32"
        Type of the input ``X`` and the output ``Y``. The graph computes in double precision.
    force : bool, default=False
        Whether to replace an existing file.

    Raises
    ------
    ModelFileError
        If the map is neither linear nor a sum of kernels; the remedy is ``compact``.

    Examples
    --------
    >>> import tempfile
    >>> import eigenscape
    >>> import numpy as np
    >>> model = eigenscape.PCA(2).fit(np.random.default_rng(0).random((50, 3)))
    >>> eigenscape.io.export_onnx(model, tempfile.mkdtemp() + "/map.onnx")  # doctest: +SKIP
    """
    onnx = optional_import("onnx", "exporting to ONNX")
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype={dtype!r} must be 'float32' or 'float64'")
    check_target(path, force)
    scaler, estimator = split_scaler(model)
    check_model(estimator)
    if not hasattr(estimator, "transform"):
        raise ModelFileError(
            f"{type(estimator).__name__} has no map (transform), so it cannot be exported to ONNX; save it"
            " with eigenscape.save"
        )
    if compact is not None and not isinstance(estimator, CompactMap):
        estimator = make_compact_map(estimator, dictionary_size(compact)).model
    content = _graph(onnx, _expansion(estimator), estimator, scaler, dtype).SerializeToString()
    with whole_file(path, force=force) as part:
        part.write_bytes(content)


# --- the map as a formula -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Expansion:
    """``y(x) = sum_j a_j k(x, d_j) + b``; for a linear map ``y(x) = A'(x - o) + b`` with ``k`` None."""

    kernel: PairwiseKernel | FourierMap | None
    members: np.ndarray  # d (m, n_features), or o (n_features,)
    coefficients: np.ndarray  # a (m, n_components), or A (n_features, n_components)
    origin: np.ndarray  # b (n_components,)


def _expansion(model: Any) -> _Expansion:
    """Return the formula of ``transform``; raise ModelFileError if it is not of this form."""
    method = described(model)
    if method is not None and method.linear:
        return _linear(model)
    inner = vars(model).get("_model_")
    if isinstance(inner, FourierMap):
        return _Expansion(inner, inner.frequencies, inner.coefficients, inner.origin)
    if isinstance(inner, CompactFunctions):
        members = _dense(inner.members)
        return _checked(model, inner.kernel, members, inner.coefficients)
    if isinstance(inner, Embedding) and inner.trivial == 0:
        functions = inner.eigenfunctions
        if isinstance(functions, LowRankEigenfunctions) and isinstance(functions.kernel, LowRankKernel):
            span, kind = functions.kernel.span, functions.kernel.normalization.kind
            if isinstance(span.source, PairwiseSource) and kind != "divisive":
                coefficients = span.functional(functions.pairs.vectors)[0]
                return _checked(model, span.source.kernel, _dense(span.members), coefficients)
        if isinstance(functions, Eigenfunctions):
            kernel, vectors = functions.kernel, functions.weighted_vectors
            if isinstance(kernel, CenteredKernel):  # additive normalisation, Bengio eq. 7
                vectors = vectors - np.outer(kernel.weights, vectors.sum(axis=0))
                kernel = kernel.base
            if isinstance(kernel, BoundPairwise):
                return _checked(model, kernel.kernel, _dense(kernel.X), vectors)
    raise _not_exportable(model, "is neither linear nor a sum of kernels")


def _linear(model: Any) -> _Expansion:
    """Return the matrix of an affine map, from the images of the mean and of unit steps away from it."""
    origin = np.asarray(getattr(model, "mean_", np.zeros(model.n_features_in_)), dtype=np.float64)
    step = max(1.0, float(np.abs(origin).max()))
    rows = np.vstack([origin, origin + step * np.eye(len(origin))])
    images = np.asarray(model.transform(rows), dtype=np.float64)
    return _Expansion(None, origin, (images[1:] - images[0]) / step, images[0])


def _checked(model: Any, kernel: PairwiseKernel, members: np.ndarray, coefficients: np.ndarray) -> _Expansion:
    """Return the expansion whose coefficients are given up to a factor for each component.

    The factors and the constants are those that reproduce ``transform`` at the members.
    """
    if not _is_supported(kernel):
        raise _not_exportable(model, f"has the kernel {type(kernel).__name__}, which has no ONNX formula")
    expected = np.asarray(model._model_.transform(members), dtype=np.float64)
    sums = kernel.evaluate(members, members) @ coefficients
    if sums.shape != expected.shape:
        raise _not_exportable(model, "is neither linear nor a sum of kernels")
    centered, target = sums - sums.mean(axis=0), expected - expected.mean(axis=0)
    square = np.einsum("ij,ij->j", centered, centered)
    factors = np.einsum("ij,ij->j", centered, target) / np.where(square > 0, square, 1.0)
    origin = expected.mean(axis=0) - factors * sums.mean(axis=0)
    if np.abs(factors * sums + origin - expected).max() > _TOLERANCE * np.abs(expected).max():
        raise _not_exportable(model, "is neither linear nor a sum of kernels")
    return _Expansion(kernel, members, factors * coefficients, origin)


def _is_supported(kernel: PairwiseKernel) -> bool:
    if isinstance(kernel, HalfSquaredDistance):
        return kernel.metric in ("euclidean", "l2") and not kernel.metric_params
    return type(kernel) in (Gaussian, Laplace, Linear, ShiftedLinear, Polynomial, Sigmoid, Cosine)


def _not_exportable(model: Any, reason: str) -> ModelFileError:
    return ModelFileError(
        f"the map of {type(model).__name__} {one_line(reason)}; export its CompactMap, an approximation by"
        " kernels around some training samples, with compact=True or a number of samples (--compact)"
    )


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)


# --- the formula as a graph ---------------------------------------------------------------------------------


class _Builder:
    """Nodes and constants of a graph, in double precision."""

    def __init__(self, onnx: Any) -> None:
        self.onnx, self.nodes, self.constants = onnx, [], []  # type: tuple[Any, list[Any], list[Any]]

    def constant(self, values: Any, dtype: type = np.float64) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(
            self.onnx.numpy_helper.from_array(np.array(values, dtype=dtype, order="C"), name)
        )
        return name

    def __call__(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name


def _graph(onnx: Any, expansion: _Expansion, model: Any, scaler: StandardScaler | None, dtype: str) -> Any:
    """Return the ONNX model of an expansion."""
    build, helper = _Builder(onnx), onnx.helper
    outer = onnx.TensorProto.FLOAT if dtype == "float32" else onnx.TensorProto.DOUBLE
    rows = build("Cast", "X", to=onnx.TensorProto.DOUBLE)
    if scaler is not None and scaler.mean_ is not None and scaler.with_mean:
        rows = build("Sub", rows, build.constant(scaler.mean_))
    if scaler is not None and scaler.scale_ is not None:
        rows = build("Div", rows, build.constant(scaler.scale_))
    if expansion.kernel is None:
        values = build("Sub", rows, build.constant(expansion.members))
    else:
        values = _kernel_values(build, expansion.kernel, expansion.members, rows)
    product = build("MatMul", values, build.constant(expansion.coefficients))
    build("Cast", build("Add", product, build.constant(expansion.origin)), output="Y", to=outer)
    n_features, n_components = model.n_features_in_, expansion.coefficients.shape[1]
    graph = helper.make_graph(
        build.nodes,
        type(model).__name__,
        [helper.make_tensor_value_info("X", outer, ["n", n_features])],
        [helper.make_tensor_value_info("Y", outer, ["n", n_components])],
        build.constants,
    )
    made = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        producer_name="eigenscape",
        producer_version=own_version(),
        ir_version=_IR_VERSION,
    )
    onnx.checker.check_model(made)
    return made


def _kernel_values(build: _Builder, kernel: Any, members: np.ndarray, rows: str) -> str:
    """Add the values (n, m) of a kernel between the rows and the members."""
    if isinstance(kernel, FourierMap):  # onnxruntime has the sine in double precision, not the cosine
        phases = build("Add", build("MatMul", rows, build.constant(members)), build.constant(kernel.phases))
        shifted = build("Add", phases, build.constant(np.pi / 2))
        return build("Concat", build("Sin", shifted), build("Sin", phases), axis=1)
    if isinstance(kernel, (Gaussian, HalfSquaredDistance)):
        factor = -_gamma(kernel) if isinstance(kernel, Gaussian) else -0.5
        scaled = build("Mul", _squared_distances(build, members, rows), build.constant(factor))
        return build("Exp", scaled) if isinstance(kernel, Gaussian) else scaled
    if isinstance(kernel, Laplace):
        apart = build("Sub", build("Unsqueeze", rows, build.constant([1], np.int64)), build.constant(members))
        lengths = build("ReduceSum", build("Abs", apart), build.constant([2], np.int64), keepdims=0)
        return build("Exp", build("Mul", lengths, build.constant(-_gamma(kernel))))
    if isinstance(kernel, Cosine):
        norm = build("Sqrt", build("ReduceSumSquare", rows, axes=[1], keepdims=1))
        rows = build("Div", rows, build("Max", norm, build.constant(1e-150)))
        norms = np.linalg.norm(members, axis=1, keepdims=True)
        members = members / np.where(norms > 0, norms, 1.0)
    if isinstance(kernel, ShiftedLinear) or (isinstance(kernel, Linear) and kernel.around_mean):
        origin = kernel.origin if isinstance(kernel, ShiftedLinear) else members.mean(axis=0)
        rows, members = build("Sub", rows, build.constant(origin)), members - origin
    if not isinstance(kernel, (Polynomial, Sigmoid)):
        return build("MatMul", rows, build.constant(members.T))
    # onnxruntime would merge a product with gamma into the one before, in single precision.
    products = build("MatMul", rows, build.constant(_gamma(kernel) * members.T))
    inner = build("Add", products, build.constant(kernel.coef0))
    return (
        build("Tanh", inner)
        if isinstance(kernel, Sigmoid)
        else build("Pow", inner, build.constant(kernel.degree))
    )


def _gamma(kernel: Gaussian | Laplace | Polynomial | Sigmoid) -> float:
    assert kernel.gamma is not None  # of a bound kernel
    return kernel.gamma


def _squared_distances(build: _Builder, members: np.ndarray, rows: str) -> str:
    """Add ``|x|^2 + |d|^2 - 2 <x, d>`` around the mean of the members, which avoids cancellation."""
    origin = members.mean(axis=0)
    members = members - origin
    rows = build("Sub", rows, build.constant(origin))
    products = build("MatMul", rows, build.constant(-2 * members.T))
    own = build("ReduceSumSquare", rows, axes=[1], keepdims=1)
    total = build("Add", build("Add", products, own), build.constant(np.square(members).sum(axis=1)))
    return build("Max", total, build.constant(0.0))
