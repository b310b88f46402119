"""Endless plain meeting sentences from templates, digit strings and invented names.

Numbers and months are rare in transcripts of real meetings and digits are spelled out there, so a
grammar supplies them. Knows words and templates only; which sentences are held out is decided in
`sentences`.
"""

import re
from random import Random

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_SLOT = re.compile(r"\{(\w+)\}")

_WORDS: dict[str, tuple[str, ...]] = {
    "count": (
        *DIGITS[1:],
        *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "eighteen"),
        *("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
        *("a hundred", "two hundred", "a thousand", "five thousand"),
    ),
    "day": ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    "month": (
        *("january", "february", "march", "april", "may", "june", "july", "august"),
        *("september", "october", "november", "december"),
    ),
    "person": (
        *("anna", "ben", "carol", "david", "emma", "frank", "grace", "henry", "julia", "kevin"),
        *("laura", "maria", "michael", "nina", "oscar", "peter", "rachel", "sarah", "thomas"),
        *("the manager", "the client", "the team", "the supplier", "the engineer", "the lawyer"),
        *("my colleague", "the designer", "the director", "our partner", "the new assistant"),
    ),
    "thing": (
        *("the budget", "the schedule", "the release", "the demo", "the report", "the design"),
        *("the test plan", "the contract", "the survey", "the website", "the mobile app"),
        *("the server", "the database", "the new office", "the training", "the feedback"),
        *("the customer feedback", "the sales figures", "the marketing plan", "the agenda"),
        *("the security review", "the audio quality", "the transcript", "the speaker labels"),
        *("the model", "the data set", "the meeting notes", "the hiring plan", "the launch"),
        *("the warehouse", "the delivery", "the invoice", "the user interface", "the printer"),
        *("the microphone", "the recording", "the first draft", "the final version", "the price"),
        *("the second question", "the summer party", "the travel costs", "the backup"),
        *("the software update", "the coffee machine", "the battery", "the remote control"),
    ),
    "state": (
        *("ready", "late", "finished", "too expensive", "on track", "much better", "complete"),
        *("not clear yet", "very good", "a bit slow", "almost done", "cancelled", "approved"),
        *("blocked", "simple", "difficult", "urgent", "important", "missing", "quite stable"),
        *("out of date", "easy to use", "hard to read", "full of mistakes", "under review"),
    ),
    "act": (
        *("finish", "review", "check", "update", "send", "fix", "prepare", "move", "discuss"),
        *("approve", "cancel", "test", "rewrite", "share", "print", "measure", "record"),
        *("present", "translate", "explain", "improve", "replace", "compare", "publish"),
        *("describe", "collect", "order", "repair", "deliver", "simplify"),
    ),
}

_TEMPLATES: tuple[str, ...] = (
    *("what about {thing}", "so {thing} is {state}", "i hear that {thing} is {state}"),
    *("do you think {thing} is {state}", "can you {act} {thing} by {day}", "yes please"),
    *("{person} will {act} {thing} on {day}", "we have to {act} {thing} before {month}"),
    *("is {thing} {state}", "no {thing} is not {state}", "i agree with {person}"),
    *("let us begin with {thing}", "let us talk about {thing}", "the next point is {thing}"),
    *("i will {act} {thing} tomorrow morning", "could {person} {act} {thing} please"),
    *("there are {count} weeks left for {thing}", "it will cost about {count} thousand euros"),
    *("that sounds good to me", "i am not sure about {thing}", "thank you for {thing}"),
    *("good morning everyone", "hello can you hear me", "okay let us begin", "see you on {day}"),
    *("are there any other questions", "that is all from my side", "{person} is on holiday"),
    *("{person} said that {thing} is {state}", "how long does it take to {act} {thing}"),
    *("it takes around {count} days", "we lost {count} customers in {month}"),
    *("we found {count} problems in {thing}", "i would like to {act} {thing} first"),
    *("did {person} {act} {thing} on {day}", "please write that down", "why is {thing} {state}"),
    *("who is going to {act} {thing}", "i can do that on {day}", "what is the next step"),
    *("maybe {person} can help with {thing}", "the deadline is {day} the {count} of {month}"),
    *("because {person} did not {act} it", "we should {act} {thing} again", "one more thing"),
    *("my number is {digits}", "the code is {digits}", "room number {digits}", "{digits}"),
    *("page {count} of {thing}", "call {person} at {count} thirty", "welcome to the meeting"),
    *("today we want to {act} {thing}", "first of all {person} will {act} {thing}"),
    *("i have {count} ideas for {thing}", "sorry i missed the last part", "great work everyone"),
    *("could you repeat that please", "let me share my screen", "the results look {state}"),
    *("compared to {month} {thing} is {state}", "{person} and {person} will {act} {thing}"),
    *("the meeting on {day} covered {thing}", "it is {count} past {count}", "no problem"),
    *("{thing} and {thing} are {state}", "in {month} we sold {count} of them", "nobody knows"),
    *("please ask {name} about {thing}", "{name} will join us on {day}", "my name is {name}"),
    *("{name} from {name} called about {thing}", "we could buy it from {name}"),
)

_ONSETS = ("b", "br", "d", "dr", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v")
_NUCLEI = ("a", "e", "i", "o", "u", "ai", "ee", "oo")
_CODAS = ("", "l", "m", "n", "r", "s", "t", "ck", "x", "nd")


def digit_string(draw: Random, most: int = 7) -> str:
    """Return one to `most` spoken digits."""
    return " ".join(draw.choice(DIGITS) for _ in range(draw.randint(1, most)))


def invented_name(draw: Random) -> str:
    """Return a name that no text holds: what a list of keywords is needed for."""
    syllables = draw.choice((2, 2, 3))
    parts = [draw.choice(_ONSETS) + draw.choice(_NUCLEI) for _ in range(syllables)]
    return "".join(parts) + draw.choice(_CODAS)


def sentence(draw: Random) -> str:
    """Return one sentence, lower case, without punctuation."""

    def fill(slot: re.Match[str]) -> str:
        kind = slot.group(1)
        if kind == "digits":
            return " ".join(draw.choice(DIGITS) for _ in range(draw.randint(3, 7)))
        return invented_name(draw) if kind == "name" else draw.choice(_WORDS[kind])

    return _SLOT.sub(fill, draw.choice(_TEMPLATES))
