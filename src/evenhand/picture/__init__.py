"""The embedding picture: where a model places gendered words, professions and emotions."""
