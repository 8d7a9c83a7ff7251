"""Several sources of the same samples: views, and their kernels as one bank."""

from multikernel.sources.bind import bind
from multikernel.sources.views import views

__all__ = ["bind", "views"]
