"""Intervals, paired tests, correlation and agreement: arrays in, numbers out."""
