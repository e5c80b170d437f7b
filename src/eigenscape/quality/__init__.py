"""Quality measures of embeddings, and parameter selection."""

from __future__ import annotations

from eigenscape._lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from eigenscape.quality.alignment import Alignment as Alignment
    from eigenscape.quality.alignment import aligned_error as aligned_error
    from eigenscape.quality.alignment import linear_alignment as linear_alignment
    from eigenscape.quality.alignment import procrustes as procrustes
    from eigenscape.quality.column_scales import DominantColumns as DominantColumns
    from eigenscape.quality.column_scales import dominant_columns as dominant_columns
    from eigenscape.quality.column_scales import variance_shares as variance_shares
    from eigenscape.quality.component_selection import ComponentChoice as ComponentChoice
    from eigenscape.quality.component_selection import choose_n_components as choose_n_components
    from eigenscape.quality.coranking import coranking_curve as coranking_curve
    from eigenscape.quality.cuts import cheeger_value as cheeger_value
    from eigenscape.quality.cuts import normalized_cut as normalized_cut
    from eigenscape.quality.dimension_estimation import Dimension as Dimension
    from eigenscape.quality.dimension_estimation import intrinsic_dimension as intrinsic_dimension
    from eigenscape.quality.edge_distortion import distortion as distortion
    from eigenscape.quality.intervals import Estimate as Estimate
    from eigenscape.quality.kept_neighbors import NeighborsKept as NeighborsKept
    from eigenscape.quality.kept_neighbors import neighbors_kept as neighbors_kept
    from eigenscape.quality.localization import LocalizedCoordinate as LocalizedCoordinate
    from eigenscape.quality.localization import localized_coordinates as localized_coordinates
    from eigenscape.quality.localization import participation_ratio as participation_ratio
    from eigenscape.quality.loss import kernel_loss as kernel_loss
    from eigenscape.quality.loss import kernel_loss_curve as kernel_loss_curve
    from eigenscape.quality.neighbor_preservation import continuity as continuity
    from eigenscape.quality.neighbor_preservation import sampled_continuity as sampled_continuity
    from eigenscape.quality.neighbor_preservation import sampled_trustworthiness as sampled_trustworthiness
    from eigenscape.quality.neighbor_preservation import trustworthiness as trustworthiness
    from eigenscape.quality.parameter_selection import ParameterChoice as ParameterChoice
    from eigenscape.quality.parameter_selection import choose_bandwidth as choose_bandwidth
    from eigenscape.quality.parameter_selection import choose_n_neighbors as choose_n_neighbors
    from eigenscape.quality.projections import sphere_projection_density as sphere_projection_density
    from eigenscape.quality.purity import Purity as Purity
    from eigenscape.quality.purity import neighbor_purity as neighbor_purity
    from eigenscape.quality.residual import residual_variance as residual_variance
    from eigenscape.quality.spectra import is_euclidean as is_euclidean
    from eigenscape.quality.spectra import negative_fraction as negative_fraction
    from eigenscape.quality.spectra import unexplained_fraction as unexplained_fraction
    from eigenscape.quality.stability import Stability as Stability
    from eigenscape.quality.stability import perturbation_stability as perturbation_stability

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
_HOMES = {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names.split()}
__getattr__, __dir__ = attach(__name__, _HOMES)
if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = sorted(_HOMES)
