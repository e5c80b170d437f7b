"""Values decide what is computed from data, not whether two arrays are the same object.

A formula that an identity test selects, such as ``if Y is self.X``, serves the training points alone: laws
tested on these points do not test the code for new points. A faster way for the training points is a method
of its own (``gram_matrix``, ``tiles``, ``nearest_all``), which the laws compare with the kernel of a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import eigenscape

SOURCE = Path(eigenscape.__file__).parent
CLASSES = "compares classes, functions or threads, of which there is one object each"
MARKERS = "compares with an object that marks a missing value"
REGISTRY = "keys of a dictionary of objects; values of arrays are not involved"
#: Comparisons by identity that select no formula: (file, expression) and the reason.
ALLOWED = {
    ("_display.py", "value.__class__.__repr__ is object.__repr__"): CLASSES,
    ("_parameters.py", "get_origin(part) is Literal"): CLASSES,
    ("_parameters.py", "origin is np.ndarray"): CLASSES,
    ("_parameters.py", "origin is tuple"): CLASSES,
    ("accel/_patch.py", "finder is not self"): REGISTRY,
    ("accel/_patch.py", "finder is not _finder"): REGISTRY,
    ("accel/_patch.py", "id(pair[side])"): REGISTRY,
    ("accel/_patch.py", "id(value)"): REGISTRY,
    ("app/cli/errors.py", "unraisable.exc_type is KeyboardInterrupt"): CLASSES,
    ("app/explore/forms.py", "type(parsed) is not type(fields[key].default)"): CLASSES,
    ("app/io/consistency.py", "field.default is MISSING"): MARKERS,
    ("app/io/models.py", "type(steps[0]) is not StandardScaler"): CLASSES,
    ("app/io/tree.py", "id(array)"): "an array that a file omits",
    ("app/io/tree.py", "id(stored)"): "an array that a file omits",
    ("app/io/tree.py", "id(value)"): "an object that a model holds twice is written once",
    ("app/io/tree.py", "registered_class(name) is not type(value)"): CLASSES,
    ("app/io/tree.py", "type(value) is np.random.RandomState"): CLASSES,
    ("app/methods.py", "each.default is inspect.Parameter.empty"): MARKERS,
    ("app/report/_page.py", "value is default"): "a default of NaN is not equal to itself",
    ("app/report/_page.py", "type(value) is type(default)"): CLASSES,
    ("estimators/_rows.py", "type(X) is np.ndarray"): CLASSES,
    ("graph/neighborhood.py", "index.X is rows.X"): "whether hashes of rows are used again",
    ("methods/distortion_discriminant.py", "id(own)"): "outputs of shared versions are computed once",
    ("methods/distortion_discriminant.py", "id(versions[number - 1])"): "outputs are computed once",
    ("options.py", "a is b"): "fields of options; two arrays are compared by value",
    ("options.py", "field.default is MISSING"): MARKERS,
    ("options.py", "kinds[0] is KNNGraph"): CLASSES,
    ("options.py", "type(a) is type(b)"): CLASSES,
    ("options.py", "type(other) is not type(self)"): CLASSES,
    ("quality/loss.py", "id(part.functions)"): "pieces of one model, not data",
    ("quality/loss.py", "id(rows.functions)"): "pieces of one model, not data",
}  # fmt: skip


def identity_tests(source: str) -> Iterator[str]:
    """Comparisons of two objects by identity or by their memory. Constants such as None may be compared."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for operator, left, right in zip(node.ops, sides[:-1], sides[1:], strict=True):
                constant = isinstance(left, ast.Constant) or isinstance(right, ast.Constant)
                if isinstance(operator, ast.Is | ast.IsNot) and not constant:
                    yield ast.unparse(node)
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in ("id", "shares_memory", "may_share_memory"):
                yield ast.unparse(node)


def test_no_identity_test_selects_a_formula() -> None:
    found = {
        (path.relative_to(SOURCE).as_posix(), test)
        for path in SOURCE.rglob("*.py")
        for test in identity_tests(path.read_text(encoding="utf-8"))
    }
    new, gone = found - set(ALLOWED), set(ALLOWED) - found
    assert not new, f"compare values, or give the training points a method of their own: {sorted(new)}"
    assert not gone, f"remove what the source does not contain from ALLOWED: {sorted(gone)}"


def test_identity_tests_are_recognised() -> None:
    source = "a = X if Y is self.X else Y\nb = Y is None or np.shares_memory(X, Y)"
    assert sorted(identity_tests(source)) == ["Y is self.X", "np.shares_memory(X, Y)"]
