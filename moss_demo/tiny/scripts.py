"""The written scripts of the sample conversations. Knows nothing of sound."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """Something one person says.

    Attributes:
        speaker: who.
        text: what, with the punctuation that shapes its tune.
        gap_s: seconds between the end of the turn before and this one; negative overlaps it.
    """

    speaker: str
    text: str
    gap_s: float = 0.4


@dataclass(frozen=True, slots=True)
class Conversation:
    """A script with its cast.

    Attributes:
        name: file name without extension.
        voices: (speaker, Kokoro voice) pairs.
        turns: in the order in which they start.
        seed: of levels, paces and noise.
    """

    name: str
    voices: tuple[tuple[str, str], ...]
    turns: tuple[Turn, ...]
    seed: int


_TWO = Conversation(
    "two-speakers",
    (("Anna", "af_heart"), ("Ben", "am_michael")),
    (
        Turn("Anna", "Hello Ben, can you hear me?", 0.2),
        Turn("Ben", "Yes I can hear you very well."),
        Turn("Ben", "Let us begin with the design.", 0.35),
        Turn("Anna", "What do you think about the new remote control?", 0.5),
        Turn("Ben", "I think it looks good but the buttons are too small.", 0.35),
        Turn("Anna", "So we need a bigger button for the volume.", 0.3),
        Turn("Ben", "Yes and the battery should be easy to change.", 0.45),
        Turn("Anna", "Can you send me the first draft by Friday?", 0.6),
        Turn("Ben", "I can do that on Thursday.", 0.3),
        Turn("Anna", "That sounds good to me.", 0.3),
        Turn("Anna", "See you next week.", 0.4),
    ),
    seed=11,
)

_FOUR = Conversation(
    "four-speakers-overlap",
    (("Carol", "bf_emma"), ("David", "am_puck"), ("Emma", "af_bella"), ("Frank", "bm_george")),
    (
        Turn("Carol", "Let us talk about the budget for the next year.", 0.2),
        Turn("David", "The report is almost done.", 0.4),
        Turn("David", "We have two weeks left.", 0.3),
        Turn("Emma", "I think the price is too high for the customers.", 0.4),
        Turn("Frank", "No I do not agree with that.", -0.3),
        Turn("Carol", "Why not Frank?", 0.5),
        Turn("Carol", "What is the problem?", 0.3),
        Turn("Frank", "The people who use it want something better.", 0.35),
        Turn("Frank", "And they can pay for it.", 0.3),
        Turn("David", "That is a good point.", -0.25),
        Turn("Emma", "Maybe we should ask the customers first.", 0.5),
        Turn("Carol", "Yes we need more data before we decide.", 0.4),
        Turn("David", "I will prepare some questions on Monday.", 0.5),
        Turn("Emma", "And I can check it before we send it.", 0.35),
        Turn("Frank", "I will talk to the client tomorrow morning.", 0.4),
        Turn("Carol", "That is all from my side.", 0.45),
    ),
    seed=12,
)

_LONG = Conversation(
    "long-meeting",
    (("Grace", "af_heart"), ("Henry", "am_puck"), ("Laura", "bf_emma")),
    (
        Turn("Grace", "Good morning everyone.", 0.2),
        Turn("Grace", "Today we want to look at the results of the test.", 0.5),
        Turn("Henry", "Most of the people liked the new system.", 0.5),
        Turn("Laura", "How long did it take to do the test?", 0.4),
        Turn("Henry", "It took about forty minutes for each person.", 0.4),
        Turn("Grace", "That is a bit slow.", 0.45),
        Turn("Grace", "Was it the same for all of them?", 0.3),
        Turn("Henry", "Some of them had problems with the first part.", 0.4),
        Turn("Laura", "I think the text on the screen is not very clear.", 1.2),
        Turn("Grace", "Could you explain what you mean?", 0.35),
        Turn("Laura", "They did not know where to start.", 0.45),
        Turn("Henry", "Yes that is what I think.", -0.2),
        Turn("Grace", "Then we should change the first page.", 0.5),
        Turn("Grace", "And then we have to test it again.", 0.4),
        Turn("Laura", "I can write a new version of the text this week.", 0.4),
        Turn("Henry", "And I will find ten more people for the next test.", 0.4),
        Turn("Grace", "What about the microphone?", 2.4),
        Turn("Grace", "The sound was very bad.", 0.35),
        Turn("Henry", "We have a new one and it works very well.", 0.4),
        Turn("Laura", "So we can use the new one for the demo.", 0.4),
        Turn("Grace", "Is there anything else that we need to discuss?", 1.9),
        Turn("Laura", "The meeting room is not free on Wednesday.", 0.45),
        Turn("Henry", "Then let us meet on Tuesday morning.", 0.4),
        Turn("Grace", "That sounds good to me.", 0.4),
        Turn("Laura", "I will send the meeting notes to everyone.", 1.0),
        Turn("Henry", "Thank you and see you next Tuesday.", 0.4),
    ),
    seed=13,
)

CONVERSATIONS = (_TWO, _FOUR, _LONG)
