"""Optimizers that need a ridge machine: they use its solution or its second derivatives in closed form."""
