"""
What a review says, and how
===========================

Words, characters, length and exclamation marks of reviews are four views of one text. The words contain the
information; how a review is written adds little, and the weights show this.
"""

# needs sentiment_electronics

import pandas as pd
from matplotlib import pyplot as plt
from sklearn.model_selection import train_test_split

from multikernel import L1MKLClassifier, datasets, kernels, views

reviews = datasets.load("sentiment_electronics")
text = pd.Series(reviews.X).sample(600, random_state=0)
liked = reviews.y[text.index] > 3  # stars, of five
style = pd.DataFrame(
    {"length": text.str.len(), "exclamations": text.str.count("!"), "capitals": text.str.count("[A-Z]")}
)
seen = views({"words": text, "characters": text, "style": style})
family = {"words": "words", "characters": "characters", "style": kernels.RBF("median").standardized()}
train, test, y_train, y_test = train_test_split(seen, liked, random_state=0)
model = L1MKLClassifier(family).fit(train, y_train)
print(f"accuracy: {model.score(test, y_test):.3f}, larger class: {max(y_test.mean(), 1 - y_test.mean()):.3f}")
model.plot_weights()
plt.show()
