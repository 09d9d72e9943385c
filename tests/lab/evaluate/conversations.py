"""A conversation and scenarios written for these tests, in the shape of the data that is evaluated."""

from __future__ import annotations

import json

ANSWER = "the answer nobody may see"


def turn(number, session, speaker, text, **more):
    return {
        "id": f"D{session}:{number}",
        "session": session,
        "datetime": f"2:0{session} pm on {session} May, 2031",
        "speaker": speaker,
        "text": text,
        **more,
    }


def question(text, category, *evidence):
    return {"question": text, "answer": ANSWER, "category": category, "evidence": list(evidence)}


CONVERSATION = {
    "sample_id": "own",
    "turns": [
        turn(1, 1, "Ida", "The ferry was late again, so I missed my violin lesson."),
        turn(
            2, 1, "Otto", "What a pity! My goat ate the timetable, I am no help.", caption="a goat on a pier"
        ),
        turn(3, 1, "Ida", "Which goat, Wilma?"),
        turn(4, 1, "Otto", "Wilma, yes. She turned seven last week."),
        turn(1, 2, "Otto", "Wilma climbed the lighthouse this morning."),
        turn(2, 2, "Ida", "Did the keeper mind? I would have laughed."),
    ],
    "questions": [
        question("What did Otto's goat climb?", 4, "D2:1"),
        question("When did Wilma turn seven?", 2, "D1:04"),
        question("What made Ida miss the lesson, and who climbed?", 1, "D1:1; D2:1"),
        question("What did Ida's goat eat?", 5, "D1:2"),
        question("Who knows?", 3, "D9:9", "see above"),
    ],
}


def event(memory_id, content, valence, arousal):
    return {"memory_id": memory_id, "content": content, "valence": valence, "arousal": arousal}


SCENARIOS = {
    "scenarios": [
        {
            "sessions": [
                {
                    "events": [
                        event("storm", "The harbour pageant was torn to pieces by a storm.", -0.9, 0.9),
                        event("list", "A list of chairs for the harbour pageant was typed.", 0.0, 0.1),
                    ],
                    "queries": [],
                },
                {
                    "events": [event("dance", "Everyone danced at the harbour pageant.", 0.9, 0.8)],
                    "queries": [
                        {
                            "query": "Which part of the harbour pageant stays in mind?",
                            "expected_memory_ids": [expected],
                            "challenge_type": "arc",
                            "state": {"valence": valence, "arousal": 0.8},
                        }
                        for expected, valence in (("storm", -0.8), ("dance", 0.8))
                    ],
                },
            ]
        }
    ]
}


def written(folder, data, name="data.json"):
    """The data as a file."""
    path = folder / name
    path.write_text(json.dumps(data))
    return path
