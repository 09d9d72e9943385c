"""Looking inside an agent: one reader, frozen views, and who may read what. Nothing here changes anything."""
