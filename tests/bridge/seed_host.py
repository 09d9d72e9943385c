"""A host of the first kind: a character of a text world that keeps its context in a list of dicts.

It uses the list in all the ways that the first bridges did, twenty-six of them, each marked with its number.
`source(changed=True)` is the same file with the two lines changed that give it a memory.
"""

from __future__ import annotations

import difflib
from typing import Any

OLD = """
import json


class Consilience:
    conversation_context = ()

    def __init__(self, agent_id):
        self.agent_id = agent_id
        self.conversation_context = []                                                            # 1
        self.step = 0

    def perceive(self, user, text, affect, surprise=0.1, salience=0.0):
        self.step += 1
        row = {"user": user, "text": text, "affect": affect, "surprise": surprise,
               "timestamp": 1763790000.5 + self.step, "identity_salience": salience}
        self.conversation_context.append(row)                                                     # 2
        if text.endswith("!"):
            row["loud"] = True
        self.trim()
        return row

    def respond(self, text):
        self.conversation_context.append({"user": self.agent_id, "text": text, "affect": []})     # 3
        self.conversation_context[-1]["timestamp"] = 1763790000.5 + self.step                     # 4
        self.trim()

    def ruminate(self, text):
        if any(row.get("is_rumination") for row in self.conversation_context[-3:]):               # 5
            return
        self.conversation_context += [{"user": self.agent_id, "text": text, "affect": [],         # 6
                                       "is_rumination": True, "stage_cue": "stares"}]
        self.trim()

    def trim(self):
        if len(self.conversation_context) > 500:                                                  # 7
            self.conversation_context = self.conversation_context[-500:]                          # 8

    def views(self, name):
        context = self.conversation_context
        return [
            context[-10:],                                                                        # 9
            [row["text"] for row in context[-5:]],                                                # 10
            [row for row in context if row.get("identity_salience", 0) > 0.3],                    # 11
            [row for row in context if not row.get("is_rumination", False)][-4:],                 # 12
            [row["text"] for row in context if name in row["text"]],                              # 13
            next((row for row in reversed(context) if row["user"] == name), None),                # 14
            max(context, key=lambda row: row.get("surprise", 0.0)) if context else None,          # 15
            [dict(row) for row in context[-2:]],                                                  # 16
            context.copy()[:1],                                                                   # 17
            bool(context), len(context),                                                          # 18
            sorted({row["user"] for row in context}),                                             # 19
            context[0] if context else None,                                                      # 20
            [(place, row["user"]) for place, row in enumerate(context[:3])],                      # 21
            sum(1 for row in context if row["user"] == self.agent_id),                            # 22
            list(context)[-1:], context == list(context), context[-1:] + context[:1],             # 23
            "\\n".join(f"{row['user']}: {row['text']}" for row in context[-8:]),                   # 24
        ]

    def save(self):
        return json.dumps({"agent": self.agent_id, "step": self.step,
                           "context": [dict(row) for row in self.conversation_context]})          # 25

    def load(self, saved):
        state = json.loads(saved)
        self.step = state["step"]
        self.conversation_context = state["context"]                                              # 26
"""
CHANGED = {
    "import json": "import json; from noodlings import MemoryListWrapper",
    "    conversation_context = ()": "    conversation_context = MemoryListWrapper.attribute()",
}


def source(changed: bool) -> str:
    return "\n".join(CHANGED.get(line, line) if changed else line for line in OLD.splitlines())


def changed_lines() -> int:
    compared = difflib.ndiff(source(False).splitlines(), source(True).splitlines())
    return len([line for line in compared if line.startswith("+ ")])


def make(agent_id: str, changed: bool) -> Any:
    module: dict[str, Any] = {"__name__": "seed_host"}
    exec(compile(source(changed), "seed_host", "exec", dont_inherit=True), module)
    return module["Consilience"](agent_id)
