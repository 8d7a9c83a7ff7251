"""Kernel weights learned together with a support vector machine."""
