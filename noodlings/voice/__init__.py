"""The offline voice: a line understood, what to say selected, worded and coloured. Needs no model."""
