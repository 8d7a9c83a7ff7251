"""Several sources of the same samples: views and their kernels; and samples that follow each other in time."""

from multikernel.sources.bind import bind
from multikernel.sources.delays import Delayer
from multikernel.sources.views import views

__all__ = ["Delayer", "bind", "views"]
