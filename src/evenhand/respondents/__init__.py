"""Respondents: whoever answers probes, one file per way of answering."""
