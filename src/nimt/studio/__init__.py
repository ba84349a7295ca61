"""`nimt studio`: a page on one's own machine where teachers are watched, raced, scrubbed and played."""
