"""Subsets of the training points: landmarks, and dictionaries whose span approximates the feature space."""
