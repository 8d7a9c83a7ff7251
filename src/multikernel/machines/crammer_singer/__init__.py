"""The support vector machine of several classes at once."""
