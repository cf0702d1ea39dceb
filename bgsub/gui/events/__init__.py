"""Events in what a session shows: found in results one by one, also while a live source runs; no Qt."""
