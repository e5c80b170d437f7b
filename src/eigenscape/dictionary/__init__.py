"""Dictionaries: a few points whose span in feature space stands for all of them."""
