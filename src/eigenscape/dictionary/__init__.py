"""Some points that stand for all: landmarks, and dictionaries whose span in feature space does."""
