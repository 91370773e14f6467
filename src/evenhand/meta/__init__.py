"""Ladders: models that are trained to have a known bias, and which measures find it."""
