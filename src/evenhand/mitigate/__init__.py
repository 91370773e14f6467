"""Mitigation: train a model by several methods, measure bias and accuracy before and after."""
