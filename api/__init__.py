"""The REST API and the live stream: thin over `Inspector` and `Society`, one topic a file."""
