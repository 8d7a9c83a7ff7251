"""Several sources of the same samples: views and their kernels; and features of earlier samples in a time series."""

from multikernel.sources.bind import bind
from multikernel.sources.delays import Delayer
from multikernel.sources.views import views

__all__ = ["Delayer", "bind", "views"]
