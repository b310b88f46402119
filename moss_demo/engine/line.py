"""Who is next on a device: first come, first served, with a guess of how long it takes.

Bookkeeping only: it knows no model, no page and no thread of its own. What runs take is learned
from those that ended.
"""

import threading
from dataclasses import dataclass
from time import monotonic

from moss_demo.engine.config import EngineConfig
from moss_demo.errors import BusyError

NEWEST_WEIGHT = 0.3
"""How much the last run counts for the speed that is expected of the next one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody stands in the line.

    Attributes:
        ahead: runs before this one, the one on the device included.
        wait_s: about how long they take, or None while that is not known.
    """

    ahead: int
    wait_s: float | None


class Line:
    """The line before one device; the front of it holds the device."""

    def __init__(self, longest: int | None = None) -> None:
        """Start empty.

        Args:
            longest: how many may wait behind the one on the device, or None for any number.
        """
        self._longest = longest
        self._changed = threading.Condition()
        self._tickets: list[Ticket] = []
        self._work_per_audio: dict[EngineConfig, float] = {}

    def __len__(self) -> int:
        """Count those who wait and the one on the device."""
        return len(self._tickets)

    def join(self, config: EngineConfig, audio_s: float | None = None) -> "Ticket":
        """Stand at the end.

        Args:
            config: the engine that will be used.
            audio_s: length of the recording, or None for work whose length nobody knows.

        Raises:
            BusyError: the line is as long as the host lets it grow.
        """
        with self._changed:
            waiting = len(self._tickets) - 1
            if self._longest is not None and waiting >= self._longest:
                raise BusyError(waiting, self._wait_s(len(self._tickets)))
            ticket = Ticket(self, config, audio_s)
            self._tickets.append(ticket)
            return ticket

    def _wait_s(self, ahead: int) -> float | None:
        total_s = 0.0
        for ticket in self._tickets[:ahead]:
            speed = self._work_per_audio.get(ticket.config)
            if speed is None or ticket.audio_s is None:
                return None
            done_s = 0.0 if ticket.began_at is None else monotonic() - ticket.began_at
            total_s += max(0.0, speed * ticket.audio_s - done_s)
        return total_s

    def _learn(self, ticket: "Ticket", work_s: float) -> None:
        if ticket.audio_s:
            speed = work_s / ticket.audio_s
            before = self._work_per_audio.get(ticket.config, speed)
            self._work_per_audio[ticket.config] = before + NEWEST_WEIGHT * (speed - before)


class Ticket:
    """A place in a line. Any thread may ask it, wait with it and give it back."""

    def __init__(self, line: Line, config: EngineConfig, audio_s: float | None) -> None:
        """Made by `Line.join`."""
        self.config = config
        self.audio_s = audio_s
        self.began_at: float | None = None
        self._line = line

    @property
    def place(self) -> Place:
        """Where it stands now."""
        with self._line._changed:
            ahead = self._ahead()
            return Place(ahead, self._line._wait_s(ahead))

    def wait(self, timeout_s: float, *, ahead: int = 0) -> bool:
        """Wait until at most `ahead` are in front; tell whether that came true in time."""
        changed = self._line._changed
        with changed:
            return changed.wait_for(lambda: self._ahead() <= ahead, timeout_s)

    def claim(self) -> bool:
        """Take the device for work that `release` ends; False when the place was given up."""
        with self._line._changed:
            if self not in self._line._tickets:
                return False
            self.began_at = monotonic()
            return True

    def learn(self, work_s: float) -> None:
        """Remember how long a whole run took, for those who wait."""
        with self._line._changed:
            self._line._learn(self, work_s)

    def release(self) -> None:
        """Let the next one go on."""
        with self._line._changed:
            self._leave()

    def give_up(self) -> None:
        """Leave the line; work that has begun keeps the device until it ends."""
        with self._line._changed:
            if self.began_at is None:
                self._leave()

    def _ahead(self) -> int:
        return self._line._tickets.index(self) if self in self._line._tickets else 0

    def _leave(self) -> None:
        if self in self._line._tickets:
            self._line._tickets.remove(self)
            self._line._changed.notify_all()
