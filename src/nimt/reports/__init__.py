"""Pages and summaries of lessons."""
