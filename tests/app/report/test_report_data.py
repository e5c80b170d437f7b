"""Encoding of numbers, thumbnails and limits of a report, without a fit."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest

from eigenscape.app.report._columns import pack_numbers
from eigenscape.app.report._map_data import Drawing, thumbnails
from eigenscape.app.report._points import as_points
from eigenscape.app.report._texts import LIMITS


def unpack(pack: dict[str, Any]) -> np.ndarray:
    codes = np.frombuffer(base64.b64decode(pack["base64"]), dtype=f"<{pack['type']}")
    if "step" not in pack:
        return codes
    return np.where(
        codes == np.iinfo(codes.dtype).max, np.nan, pack["low"] + pack["step"] * codes.astype(float)
    )


def test_integers_are_exact_in_few_bytes():
    for values, kind in (
        (np.array([-3.0, np.nan, 251.0]), "u1"),
        (np.array([-3.0, np.nan, 252.0]), "u2"),
        (np.array([1e9, 1e9 + 65_534]), "u2"),
        (np.array([0.0, 65_535.0]), "f4"),
    ):
        packed = pack_numbers(values)
        assert packed["type"] == kind
        np.testing.assert_array_equal(unpack(packed), values)
    assert np.isnan(unpack(pack_numbers(np.full(3, np.nan)))).all()


def test_numbers_of_many_points_are_rounded_to_a_small_part_of_their_range(monkeypatch):
    values = np.random.default_rng(0).gamma(2, 1000, 400)
    values[7] = np.nan
    assert pack_numbers(values)["type"] == "f4"
    monkeypatch.setattr(LIMITS, "many", 100)
    packed = pack_numbers(values)
    assert packed["type"] == "u2"
    np.testing.assert_allclose(unpack(packed), values, atol=np.nanmax(values) / 65_000, rtol=0)
    assert np.isnan(unpack(packed)[7])


def test_the_number_of_points_drawn_is_checked():
    points = as_points(np.zeros((80, 2)))
    assert len(Drawing.from_points(points, None, None, None, 0).rows) == 80
    assert len(Drawing.from_points(points, None, None, 5, 0).rows) == 5
    for bad in (0, -1, 2.5, "all", True):
        with pytest.raises(ValueError, match=rf"max_points={bad!r} must be an integer of at least 1"):
            Drawing.from_points(points, None, None, bad, 0)


def test_thumbnails_are_reduced_until_they_fit(monkeypatch):
    X = np.zeros((10, 2))
    images = np.zeros((10, 40, 20, 3))
    images[3, :20] = 1.0
    rows = np.arange(10)
    made, remark = thumbnails(as_points(X), images, rows)
    assert (made["shape"], remark) == ([40, 20, 3], "")
    monkeypatch.setattr(LIMITS, "image_bytes", 10 * 40 * 20 * 3 // 4)
    made, _ = thumbnails(as_points(X), images, rows[2:4])
    assert made["shape"] == [40, 20, 3]  # only the points drawn count
    made, _ = thumbnails(as_points(X), images, rows)
    assert made["shape"] == [20, 10, 3]
    pixels = unpack(made["pixels"]).reshape(10, 20, 10, 3)
    assert (pixels[3, :10] == 255).all()
    assert pixels[3, 10:].max() == pixels[4].max() == 0
    monkeypatch.setattr(LIMITS, "image_bytes", 100)
    assert thumbnails(as_points(X), images, rows) == (
        None,
        "Thumbnails of 10 points would be too large and are left out.",
    )


def test_images_of_another_shape_are_refused():
    points = as_points(np.zeros((10, 2)))
    for images, message in (
        (np.zeros((9, 4, 4)), r"images must have shape \(10, height, width\)"),
        (np.zeros((10, 4, 4, 2)), r"got \(10, 4, 4, 2\)"),
        (np.full((10, 4, 4), "x"), "images must contain numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            thumbnails(points, images, np.arange(10))
    assert thumbnails(points, None, np.arange(10)) == (None, "")
