"""Stabilised explicit methods, family rkc: three-term recurrences of a degree s that is chosen at each step."""
