"""Quality measures of embeddings, and parameter selection."""

from eigenscape.quality.alignment import Alignment, aligned_error, linear_alignment, procrustes
from eigenscape.quality.column_scales import DominantColumns, dominant_columns, variance_shares
from eigenscape.quality.component_selection import ComponentChoice, choose_n_components
from eigenscape.quality.coranking import coranking_curve
from eigenscape.quality.cuts import cheeger_value, normalized_cut
from eigenscape.quality.dimension_estimation import Dimension, intrinsic_dimension
from eigenscape.quality.edge_distortion import distortion
from eigenscape.quality.intervals import Estimate
from eigenscape.quality.localization import LocalizedCoordinate, localized_coordinates, participation_ratio
from eigenscape.quality.loss import kernel_loss, kernel_loss_curve
from eigenscape.quality.neighbor_preservation import (
    continuity,
    sampled_continuity,
    sampled_trustworthiness,
    trustworthiness,
)
from eigenscape.quality.neighbors_kept import NeighborsKept, neighbors_kept
from eigenscape.quality.parameter_selection import ParameterChoice, choose_bandwidth, choose_n_neighbors
from eigenscape.quality.projections import sphere_projection_density
from eigenscape.quality.purity import Purity, neighbor_purity
from eigenscape.quality.residual import residual_variance
from eigenscape.quality.spectra import is_euclidean, negative_fraction, unexplained_fraction
from eigenscape.quality.stability import Stability, perturbation_stability

__all__ = [
    "Alignment",
    "ComponentChoice",
    "Dimension",
    "DominantColumns",
    "Estimate",
    "LocalizedCoordinate",
    "NeighborsKept",
    "ParameterChoice",
    "Purity",
    "Stability",
    "aligned_error",
    "cheeger_value",
    "choose_bandwidth",
    "choose_n_components",
    "choose_n_neighbors",
    "continuity",
    "coranking_curve",
    "distortion",
    "dominant_columns",
    "intrinsic_dimension",
    "is_euclidean",
    "kernel_loss",
    "kernel_loss_curve",
    "linear_alignment",
    "localized_coordinates",
    "negative_fraction",
    "neighbor_purity",
    "neighbors_kept",
    "normalized_cut",
    "participation_ratio",
    "perturbation_stability",
    "procrustes",
    "residual_variance",
    "sampled_continuity",
    "sampled_trustworthiness",
    "sphere_projection_density",
    "trustworthiness",
    "unexplained_fraction",
    "variance_shares",
]
