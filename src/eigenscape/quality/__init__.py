"""Quality measures of embeddings, and parameter selection."""

from __future__ import annotations

from eigenscape._lazy import attach

TYPE_CHECKING = False

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

if TYPE_CHECKING:
    from eigenscape.quality.alignment import Alignment, aligned_error, linear_alignment, procrustes
    from eigenscape.quality.column_scales import DominantColumns, dominant_columns, variance_shares
    from eigenscape.quality.component_selection import ComponentChoice, choose_n_components
    from eigenscape.quality.coranking import coranking_curve
    from eigenscape.quality.cuts import cheeger_value, normalized_cut
    from eigenscape.quality.dimension_estimation import Dimension, intrinsic_dimension
    from eigenscape.quality.edge_distortion import distortion
    from eigenscape.quality.intervals import Estimate
    from eigenscape.quality.kept_neighbors import NeighborsKept, neighbors_kept
    from eigenscape.quality.localization import (
        LocalizedCoordinate,
        localized_coordinates,
        participation_ratio,
    )
    from eigenscape.quality.loss import kernel_loss, kernel_loss_curve
    from eigenscape.quality.neighbor_preservation import (
        continuity,
        sampled_continuity,
        sampled_trustworthiness,
        trustworthiness,
    )
    from eigenscape.quality.parameter_selection import ParameterChoice, choose_bandwidth, choose_n_neighbors
    from eigenscape.quality.projections import sphere_projection_density
    from eigenscape.quality.purity import Purity, neighbor_purity
    from eigenscape.quality.residual import residual_variance
    from eigenscape.quality.spectra import is_euclidean, negative_fraction, unexplained_fraction
    from eigenscape.quality.stability import Stability, perturbation_stability

#: Names by module. A fit needs a few of them.
_MODULES = {
    "alignment": "Alignment aligned_error linear_alignment procrustes",
    "column_scales": "DominantColumns dominant_columns variance_shares",
    "component_selection": "ComponentChoice choose_n_components",
    "coranking": "coranking_curve",
    "cuts": "cheeger_value normalized_cut",
    "dimension_estimation": "Dimension intrinsic_dimension",
    "edge_distortion": "distortion",
    "intervals": "Estimate",
    "localization": "LocalizedCoordinate localized_coordinates participation_ratio",
    "loss": "kernel_loss kernel_loss_curve",
    "neighbor_preservation": "continuity sampled_continuity sampled_trustworthiness trustworthiness",
    "kept_neighbors": "NeighborsKept neighbors_kept",
    "parameter_selection": "ParameterChoice choose_bandwidth choose_n_neighbors",
    "projections": "sphere_projection_density",
    "purity": "Purity neighbor_purity",
    "residual": "residual_variance",
    "spectra": "is_euclidean negative_fraction unexplained_fraction",
    "stability": "Stability perturbation_stability",
}
__getattr__, __dir__ = attach(
    __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names.split()}
)
