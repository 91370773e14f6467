"""Is a measure right? Models of known bias are trained, and the measure must find it."""
