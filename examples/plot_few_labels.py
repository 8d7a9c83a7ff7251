"""
Many samples, few labels
========================

The graph of nearest neighbours is built from all digits, labelled or not. Used as a kernel matrix together with a
Gaussian kernel, it helps most between twenty and a hundred labels; with both kernels, the weights choose between
them.
"""

import numpy as np
from matplotlib import pyplot as plt
from scipy.linalg import eigh
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from multikernel import LpMKLClassifier, precomputed

pixels, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
rows = rng.permutation(len(digit))[:700]
pixels, odd = pixels[rows], digit[rows] % 2

# %%
# The graph as a kernel: diffusion along its edges, exp(-t L).

edges = kneighbors_graph(pixels, 8).toarray()
edges = np.maximum(edges, edges.T)
degrees = edges.sum(axis=1)
laplacian = np.eye(len(odd)) - edges / np.sqrt(np.outer(degrees, degrees))
values, vectors = eigh(laplacian)
diffusion = (vectors * np.exp(-6.0 * values)) @ vectors.T
gaussian = rbf_kernel(pixels, gamma=0.0005)
scaled = [K / np.trace(K) * len(K) for K in (gaussian, diffusion)]
banks = {
    "Gaussian": precomputed(scaled[:1]),
    "graph": precomputed(scaled[1:]),
    "both, weighed": precomputed(scaled, names=["Gaussian", "graph"]),
}

counts = [10, 20, 40, 80, 160, 320]
for name, bank in banks.items():
    scores = np.zeros((3, len(counts)))
    for repeat, order in enumerate(rng.permutation(len(odd)) for _ in range(3)):
        for place, count in enumerate(counts):
            train, test = order[:count], order[320:]
            model = LpMKLClassifier(C=10, p=2.0).fit(bank[np.ix_(train, train)], odd[train])
            scores[repeat, place] = model.score(bank[np.ix_(test, train)], odd[test])
    plt.semilogx(counts, scores.mean(axis=0), "o-", label=name)
plt.xlabel("labels"), plt.ylabel("accuracy on the other digits"), plt.legend()
plt.show()
