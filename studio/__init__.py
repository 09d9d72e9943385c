"""The studio: a terminal application to look into agents while they live. A view like any other.

How a pane lives, in three lines. It is a `panes.base.Pane` in a file of its own, listed in `panes.PANES`.
`asks()` names what it shows; the answers come in through `update_from(answers)`, by the key of each `Ask`.
What it wants goes up as messages: `Pane.Wants(asks)` for more data, `Pane.Does(deed)` for a change.

Nothing but `app` holds a `source.Source`; a widget draws what it is handed and knows no agent.
"""
