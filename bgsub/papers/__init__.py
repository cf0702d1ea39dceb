"""Published experiments on the learners: what the papers say, and what comes out here."""
