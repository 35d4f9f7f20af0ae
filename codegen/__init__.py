"""Coefficient files in, checked C method descriptors out."""
