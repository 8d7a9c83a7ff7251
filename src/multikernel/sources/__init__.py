"""Several sources of the same samples: views, and their kernels as one bank."""

from multikernel.sources.views import views

__all__ = ["views"]
