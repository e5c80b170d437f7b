"""Images of a head made of ellipsoids, in varying pose and light: a substitute for face images."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eigenscape._parameters import check_count


class _Part(NamedTuple):
    center: tuple[float, float, float]  # right, up, forward, in units of half the head's height
    radii: tuple[float, float, float]
    albedo: float


_PARTS = (
    _Part((0.0, 0.0, 0.0), (0.72, 0.95, 0.80), 0.85),  # the head
    _Part((0.0, 0.12, -0.12), (0.76, 0.92, 0.76), 0.30),  # hair: behind and above
    _Part((0.0, -0.08, 0.82), (0.11, 0.24, 0.20), 0.90),  # the nose
    _Part((-0.27, 0.18, 0.66), (0.13, 0.075, 0.09), 0.15),  # the eyes
    _Part((0.27, 0.18, 0.66), (0.13, 0.075, 0.09), 0.15),
    _Part((0.0, -0.50, 0.64), (0.24, 0.055, 0.09), 0.35),  # the mouth
    _Part((-0.74, 0.02, -0.02), (0.07, 0.20, 0.14), 0.75),  # the ears
    _Part((0.74, 0.02, -0.02), (0.07, 0.20, 0.14), 0.75),
)
_RANGES = ((-60.0, 60.0), (-30.0, 30.0), (-60.0, 60.0))  # degrees: pan, tilt, light


def heads(n_samples: int = 698, *, side: int = 32, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    r"""Generate images of a head in varying pose and light, a manifold of three dimensions.

    The head, its nose, eyes, mouth, ears and hair are ellipsoids in parallel projection. A surface of albedo
    :math:`a` and normal :math:`n` has the brightness :math:`a (b + (1 - b) \max(0, n \cdot l))` in light from
    the direction :math:`l`, with ambient light :math:`b`. A substitute for the faces of Bengio sec. 5.2.

    Parameters
    ----------
    n_samples : int, default=698
        Number of images.
    side : int, default=32
        Number of pixels along either edge of an image.
    random_state : int, default=0
        Seed of pose and light, each uniformly distributed in its range.

    Returns
    -------
    X : ndarray of shape (n_samples, side ** 2)
        Brightness in the unit interval, row by row.
    parameters : ndarray of shape (n_samples, 3)
        Pan (-60 to 60), tilt (-30 to 30) and light (-60 to 60), in degrees.

    Examples
    --------
    >>> from eigenscape.datasets import heads
    >>> X, parameters = heads(5)
    >>> X.shape, parameters.shape
    ((5, 1024), (5, 3))
    """
    n_samples, side = check_count("n_samples", n_samples), check_count("side", side)
    low, high = np.transpose(_RANGES)
    rng = np.random.default_rng(check_count("random_state", random_state, 0))
    parameters = rng.uniform(low, high, (n_samples, 3))
    chunks = np.split(parameters, np.arange(32, n_samples, 32))  # drawn at once
    return np.concatenate([_render(chunk, side) for chunk in chunks]), parameters


def _render(parameters: np.ndarray, side: int) -> np.ndarray:
    """Render images (n, side ** 2) at twice the resolution, averaged over 2 x 2 pixels."""
    pan, tilt, light = np.radians(parameters).T
    turn = _rotations(pan, tilt)  # (n, 3, 3): from the head's directions to the camera's
    grid = (np.arange(2 * side) + 0.5) / side - 1
    across, down = (axis.ravel() * 1.12 for axis in np.meshgrid(grid, grid))
    pixels = np.column_stack([across, -down, np.full_like(across, 4.0)])  # origins of the rays
    start, sight = pixels @ turn, -turn[:, 2, :]  # (n, p, 3) and (n, 3), in the head's directions
    towards_light = np.column_stack([np.sin(light), np.full_like(light, 0.4), np.cos(light)])
    towards_light = np.einsum(
        "nc,ncd->nd", towards_light / np.linalg.norm(towards_light, axis=1, keepdims=True), turn
    )
    nearest = np.full(start.shape[:2], np.inf)
    brightness = np.zeros(start.shape[:2])
    for part in _PARTS:
        distance = _distance(part, start, sight)
        seen = distance < nearest
        image = np.nonzero(seen)[0]  # of each ray that is seen
        point = start[seen] + distance[seen][:, np.newaxis] * sight[image]  # (rays, 3)
        normal = (point - part.center) / np.square(part.radii)
        cosine = np.einsum("rc,rc->r", normal, towards_light[image]) / np.linalg.norm(normal, axis=1)
        nearest[seen] = distance[seen]
        brightness[seen] = part.albedo * (0.15 + 0.85 * np.maximum(0, cosine))  # ambient light, and the light
    n = len(parameters)
    return brightness.reshape(n, side, 2, side, 2).mean(axis=(2, 4)).reshape(n, side * side)


def _rotations(pan: np.ndarray, tilt: np.ndarray) -> np.ndarray:
    """Compute rotations (n, 3, 3) about the head's vertical axis, then about the camera's horizontal one."""
    one, zero = np.ones_like(pan), np.zeros_like(pan)
    around = np.array(
        [[np.cos(pan), zero, np.sin(pan)], [zero, one, zero], [-np.sin(pan), zero, np.cos(pan)]]
    )
    nod = np.array(
        [[one, zero, zero], [zero, np.cos(tilt), -np.sin(tilt)], [zero, np.sin(tilt), np.cos(tilt)]]
    )
    return np.einsum("abn,bcn->nac", nod, around)


def _distance(part: _Part, start: np.ndarray, sight: np.ndarray) -> np.ndarray:
    """Compute the distance (n, p) at which each ray meets the ellipsoid, or infinity."""
    a = (start - part.center) / part.radii  # (n, p, 3), scaled so that the ellipsoid is the unit sphere
    b = sight / part.radii  # (n, 3)
    # einsum: sums over an axis of three take five times as long
    aa, ab = np.einsum("npc,npc->np", a, a), np.einsum("npc,nc->np", a, b)
    bb = np.einsum("nc,nc->n", b, b)[:, np.newaxis]
    root = ab * ab - bb * (aa - 1)
    return np.where(root > 0, (-ab - np.sqrt(np.maximum(root, 0))) / bb, np.inf)


def bars(
    n_samples: int = 1000, *, side: int = 40, length: int = 20, thickness: int = 2, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generate binary images of a vertical or horizontal bar at a random position (Belkin sec. 6.2).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of images. The first half are vertical bars, the others horizontal ones.
    side : int, default=40
        Number of pixels along either edge of an image.
    length, thickness : int, default=20, 2
        Size of the bars in pixels; they lie inside the image. The paper does not give the values.
    random_state : int, default=0
        Seed of the positions.

    Returns
    -------
    X : ndarray of shape (n_samples, side ** 2)
        Pixels in row-major order, 1 inside the bar.
    corners : ndarray of shape (n_samples, 2)
        Row and column of the top left pixel of the bar.
    labels : ndarray of shape (n_samples,)
        0 for vertical, 1 for horizontal.

    Examples
    --------
    >>> from eigenscape.datasets import bars
    >>> X, corners, labels = bars(10)
    >>> X.shape, float(X[0].sum())
    ((10, 1600), 40.0)
    """
    n_samples, side = check_count("n_samples", n_samples), check_count("side", side)
    for name, extent in (("length", length), ("thickness", thickness)):
        if check_count(name, extent) > side:
            raise ValueError(f"{name}={extent} does not fit into images of side={side}; lower {name}")
    rng = np.random.default_rng(check_count("random_state", random_state, 0))
    labels = (np.arange(n_samples) >= (n_samples + 1) // 2).astype(np.int64)
    # Numbers of rows and columns that a bar covers.
    extents = np.where(labels[:, np.newaxis] == 0, [length, thickness], [thickness, length])
    corners = rng.integers(0, side - extents, endpoint=True)
    inside = [
        (np.arange(side) >= corners[:, [axis]]) & (np.arange(side) < corners[:, [axis]] + extents[:, [axis]])
        for axis in (0, 1)
    ]  # (n_samples, side) for rows and for columns
    images = inside[0][:, :, np.newaxis] & inside[1][:, np.newaxis, :]
    return images.reshape(n_samples, side * side).astype(np.float64), corners, labels
