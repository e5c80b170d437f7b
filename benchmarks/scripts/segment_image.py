"""Segment an image of four circles by its graph of pixels."""

import numpy as np
from _data import size
from sklearn.cluster import spectral_clustering
from sklearn.feature_extraction import image

scale = np.sqrt(size(1718) / 1718)  # pixels of the circles
x, y = np.indices((int(80 * scale), int(80 * scale))) / scale
circles = [((22, 24), 12), ((32, 54), 12), ((54, 46), 13), ((18, 66), 11)]
img = sum(((x - a) ** 2 + (y - b) ** 2 < r**2).astype(float) for (a, b), r in circles)
mask = img.astype(bool)
img = img + 1 + 0.2 * np.random.RandomState(0).randn(*img.shape)
graph = image.img_to_graph(img, mask=mask)
graph.data = np.exp(-graph.data / graph.data.std())
labels = spectral_clustering(graph, n_clusters=4, eigen_solver="arpack", random_state=0)
print(*np.sort(np.bincount(labels)))
