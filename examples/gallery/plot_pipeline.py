"""
A map within a pipeline, with grid search
=========================================

All maps are scikit-learn transformers: scale, reduce, classify, and search parameters of all steps at once.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape import LaplacianEigenmaps

X, y = load_digits(n_class=6, return_X_y=True)
pipeline = Pipeline(
    [
        ("map", LaplacianEigenmaps(n_neighbors=10)),
        ("scale", StandardScaler()),
        ("classify", LogisticRegression()),
    ]
)
grid = {"map__n_components": [2, 5, 10, 20], "map__n_neighbors": [15, 30]}
search = GridSearchCV(pipeline, grid, cv=3).fit(X[:700], y[:700])
print(search.best_params_)
print(f"accuracy on new rows: {search.score(X[700:], y[700:]):.3f}")

# %%
figure, ax = plt.subplots(figsize=(6, 3.6))
results = search.cv_results_
for k in grid["map__n_neighbors"]:
    chosen = [i for i, p in enumerate(results["params"]) if p["map__n_neighbors"] == k]
    ax.plot(grid["map__n_components"], results["mean_test_score"][chosen], "o-", label=f"{k} neighbours")
ax.set(xlabel="components", ylabel="accuracy in cross-validation")
ax.legend(frameon=False)
plt.show()
