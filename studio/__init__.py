"""The studio: a terminal application that shows what goes on inside agents while they live.

A pane is a subclass of `panes.base.Pane` in a file of its own, listed in `panes.PANES`. Its `queries()` say
what it shows, and `update_from(results)` draws the results. It sends messages to the application to ask for
more (`Pane.QueriesRequested`) or to change something (`Pane.ActionRequested`).

Only `app` holds a `source.Source`. Widgets draw what they are given and know nothing of agents.
"""
