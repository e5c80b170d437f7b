"""Tables as input of estimators: the same numbers, names of columns kept, output in the library asked for."""

import numpy as np
import pytest

from eigenscape import PCA, Isomap

pd = pytest.importorskip("pandas")
X = np.random.default_rng(0).normal(size=(50, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


class ArrowStream:
    """An object that has nothing but the arrow interface, such as a result of DuckDB."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def table(kind):
    if kind == "pandas":
        return FRAME
    if kind == "nullable":
        return FRAME.convert_dtypes()
    if kind in ("polars", "lazy"):
        frame = pytest.importorskip("polars").from_pandas(FRAME)
        return frame if kind == "polars" else frame.lazy()
    if kind == "narwhals":
        return pytest.importorskip("narwhals").from_native(FRAME)
    pa = pytest.importorskip("pyarrow")
    if kind == "batch":
        return pa.RecordBatch.from_pandas(FRAME)
    arrow = pa.Table.from_pandas(FRAME)
    return arrow if kind == "arrow" else ArrowStream(arrow)


KINDS = ["pandas", "nullable", "polars", "lazy", "narwhals", "arrow", "batch", "stream"]


@pytest.mark.parametrize("kind", KINDS)
def test_tables_give_the_same_numbers_and_keep_names(kind):
    model = Isomap(n_neighbors=6).fit(table(kind))
    expected = Isomap(n_neighbors=6).fit(X)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.get_feature_names_out().tolist() == ["isomap0", "isomap1"]
    np.testing.assert_array_equal(model.transform(table(kind)), expected.transform(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(FRAME[["b", "a", "c"]])


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("kind", KINDS)
def test_output_in_the_library_asked_for(kind, library):
    pytest.importorskip(library)
    found = PCA(2).set_output(transform=library).fit_transform(table(kind))
    assert type(found).__module__.startswith(library)
    assert list(found.columns) == ["pca0", "pca1"]
    np.testing.assert_allclose(found.to_numpy(), PCA(2).fit_transform(X), atol=1e-12)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_text_columns_are_named(kind):
    text = FRAME.assign(species="x", when="2020-01-01")
    if kind == "polars":
        text = pytest.importorskip("polars").from_pandas(text)
    elif kind == "arrow":
        text = pytest.importorskip("pyarrow").Table.from_pandas(text)
    with pytest.raises(ValueError, match="encode or drop 'species', 'when'"):
        PCA(2).fit(text)


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "pyarrow"])
def test_dates_are_refused(kind):
    days = np.arange("2020-01-01", "2020-02-10", dtype="datetime64[D]")
    frame = pd.DataFrame(
        {"a": np.arange(40.0), "b": np.arange(40.0) ** 2, "day": days.astype("datetime64[ms]")}
    )
    if kind == "pyarrow":
        frame = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    elif kind != "pandas":
        frame = pytest.importorskip("polars").DataFrame({name: frame[name].to_numpy() for name in frame})
        frame = frame.lazy() if kind == "lazy" else frame
    with pytest.raises(
        ValueError, match="X has dates or times, which are not numbers; convert or drop 'day'"
    ):
        PCA(1).fit(frame)
