"""How good an embedding is."""

from eigenscape.quality.alignment import aligned_error
from eigenscape.quality.distortion import distortion
from eigenscape.quality.loss import kernel_loss
from eigenscape.quality.projections import sphere_projection_density
from eigenscape.quality.spectra import is_euclidean, negative_fraction
from eigenscape.quality.trust import continuity, trustworthiness

__all__ = [
    "aligned_error",
    "continuity",
    "distortion",
    "is_euclidean",
    "kernel_loss",
    "negative_fraction",
    "sphere_projection_density",
    "trustworthiness",
]
