"""Composite methods: several methods, among which the library chooses at each step (methods/README.md)."""
