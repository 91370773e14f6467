"""Studies: people are asked the same sentences as models, over the web; their answers are kept."""
