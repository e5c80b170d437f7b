"""How good an embedding is, and which one to choose: arrays in, numbers out."""

from eigenscape.quality.alignment import Alignment, aligned_error, linear_alignment, procrustes
from eigenscape.quality.choice import Choice, choose_bandwidth, choose_n_neighbors
from eigenscape.quality.coranking import coranking_curve
from eigenscape.quality.dimension import Dimension, intrinsic_dimension
from eigenscape.quality.distortion import distortion
from eigenscape.quality.estimate import Estimate
from eigenscape.quality.loss import kernel_loss
from eigenscape.quality.projections import sphere_projection_density
from eigenscape.quality.purity import Purity, neighbor_purity
from eigenscape.quality.residual import residual_variance
from eigenscape.quality.spectra import is_euclidean, negative_fraction
from eigenscape.quality.stability import Stability, perturbation_stability
from eigenscape.quality.trust import continuity, sampled_continuity, sampled_trustworthiness, trustworthiness

__all__ = [
    "Alignment",
    "Choice",
    "Dimension",
    "Estimate",
    "Purity",
    "Stability",
    "aligned_error",
    "choose_bandwidth",
    "choose_n_neighbors",
    "continuity",
    "coranking_curve",
    "distortion",
    "intrinsic_dimension",
    "is_euclidean",
    "kernel_loss",
    "linear_alignment",
    "negative_fraction",
    "neighbor_purity",
    "perturbation_stability",
    "procrustes",
    "residual_variance",
    "sampled_continuity",
    "sampled_trustworthiness",
    "sphere_projection_density",
    "trustworthiness",
]
