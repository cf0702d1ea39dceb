"""The functions that learners learn: kernel expansions, stored in different ways."""
