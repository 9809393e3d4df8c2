"""Real servers for the tests: each is started by a test and gone after it."""
