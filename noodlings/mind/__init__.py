"""The inner life between feeling and memory: phenomenal state, expectation, surprise, appetites."""
