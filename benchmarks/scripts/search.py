"""Search the width of a kernel in a pipeline."""

from _data import digits
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

X, y = digits()
pipeline = make_pipeline(KernelPCA(9, kernel="rbf", random_state=0), KNeighborsClassifier())
found = GridSearchCV(pipeline, {"kernelpca__gamma": [1e-4, 1e-3, 1e-2]}, cv=3).fit(X, y)
print(found.best_params_["kernelpca__gamma"], f"{found.best_score_:.4f}")
