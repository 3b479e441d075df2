"""One reply as parts of the AI SDK's UI message stream, over as many connections as it takes."""

import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import httpx
from httpx_sse import EventSource, SSEError

from .refusal import Refusal

Part = dict[str, Any]
Open = Callable[[int | None], AbstractContextManager[httpx.Response]]
OpenWhole = Callable[[int], AbstractContextManager[httpx.Response]]

DONE = "[DONE]"
WAITS = (0.25, 0.5, 1, 2, 3, 3, 3, 3)


class ReplyBroken(Exception):
    """The rest of a reply cannot be had. The conversation's snapshot has what is stored."""


class ReplyWithdrawn(ReplyBroken):
    """The server has withdrawn what it wrote, and writes it again. `Conversation.follow` then reads the turn from its beginning."""


class Reply:
    """The parts that follow a position, each exactly once. A reply is iterated over once.

    `open_at` requests the reply from its beginning for None, else what follows a position. `open_whole` requests all of a turn for a reader
    that is behind; without it a reader that gets nothing is at the end. `is_final` says that nothing up to the position can be withdrawn.
    """

    def __init__(
        self,
        open_at: Open,
        position: int | None = None,
        waits: Sequence[float] = WAITS,
        open_whole: OpenWhole | None = None,
        is_final: bool = True,
    ):
        self.position = position
        self.delivered = position
        """Everything up to there was given to the one who iterates."""
        self._open_at = open_at
        self._waits = waits
        self._received = _Received()
        self._open_whole = open_whole
        self._is_final = is_final
        self._is_whole = False
        """All of the turn is read, and what precedes the position left out."""

    def __iter__(self) -> Iterator[Part]:
        failures = 0
        while True:
            before = self.position
            try:
                with self._open() as response:
                    if response.status_code == 204:
                        if self._received.has_parts:
                            raise ReplyWithdrawn("The server has withdrawn what it wrote.")
                        if self._is_whole or self.position is None or self._open_whole is None:
                            return
                        # The same answer for a reader that has all, and for one behind which something was withdrawn.
                        self._is_whole = True
                        continue
                    is_over = yield from self._read(response)
                    if is_over:
                        return
                cause: Exception = EOFError("The reply ended before its end.")
            except (httpx.TransportError, SSEError) as error:
                cause = error
            except Refusal as error:
                if error.status != 503:
                    raise
                cause = error
            if self._received.has_parts and self.position is None:
                raise ReplyBroken("The reply broke off where it cannot be continued.") from cause
            failures = failures + 1 if self.position == before else 1
            if failures > len(self._waits):
                raise ReplyBroken("The server cannot be reached.") from cause
            time.sleep(self._waits[failures - 1])

    def _open(self) -> AbstractContextManager[httpx.Response]:
        if self._is_whole and self._open_whole is not None and self.position is not None:
            return self._open_whole(self.position)
        return self._open_at(self.position)

    def _read(self, response: httpx.Response) -> Generator[Part, None, bool]:
        """One connection; returns whether the reply is over."""
        held: list[Part] = []
        is_first, last_id = True, ""
        for event in EventSource(response).iter_sse():
            if event.data == DONE:
                if not self._is_whole:
                    yield from self._deliver(held)
                return True
            if event.data == "":
                continue
            part: Part = json.loads(event.data)
            held.append(part)
            # The last part of a chunk has the id. The parser repeats it with those that have none.
            has_id = event.id not in ("", last_id)
            if has_id:
                last_id = event.id
                sequence = int(event.id)
                if self._is_whole and self.position is not None and sequence <= self.position:
                    if part["type"] == "finish":
                        return True
                    held = [each for each in held if each["type"] == "start"]
                    continue
                if self._is_whole and not self._is_final:
                    raise ReplyWithdrawn("The server has withdrawn what it wrote.")
                self._is_whole = False
                if is_first and self.position is not None and sequence <= self.position:
                    raise ReplyBroken("The server began the reply again.")
                is_first, self.position = False, sequence
            # Half a chunk is not given away: after a break it would come again.
            is_free = self.position is None
            if has_id or is_free or part["type"] in ("finish", "error"):
                yield from self._deliver(held)
                held = []
            if part["type"] == "finish":
                return True
        return False

    def _deliver(self, parts: Sequence[Part]) -> Iterator[Part]:
        news = [part for part in parts if self._received.is_news(part)]
        yield from news[:-1]
        self.delivered = self.position
        yield from news[-1:]


class _Received:
    """Knows which parts each connection begins with although they have been received."""

    def __init__(self) -> None:
        self.has_parts = False
        self._message_id: str | None = None
        self._is_in_step = False
        self._open_blocks: set[str] = set()
        self._inputs: dict[str, str] = {}
        """Text so far of inputs that the model still writes, by call."""
        self._repeated: set[str] = set()

    def is_news(self, part: Part) -> bool:
        kind = part["type"]
        if kind == "start":
            known, self._message_id = self._message_id, part.get("messageId")
            if known and known != self._message_id:
                raise ReplyBroken("Another reply has taken its place.")
            return not known
        if kind == "start-step":
            if self._is_in_step:
                return False
            self._is_in_step = True
            self._open_blocks.clear()
            self._inputs.clear()
        elif kind == "finish-step":
            self._is_in_step = False
        elif kind in ("text-start", "reasoning-start"):
            if part["id"] in self._open_blocks:
                return False
            self._open_blocks.add(part["id"])
        elif kind in ("text-end", "reasoning-end"):
            self._open_blocks.discard(part["id"])
        elif kind.startswith("tool-input-") and not self._is_news_of_input(part):
            return False
        self.has_parts = True
        return True

    def _is_news_of_input(self, part: Part) -> bool:
        """A connection repeats an unfinished input: its start, then one delta with the text so far."""
        kind, call = part["type"], part["toolCallId"]
        known = self._inputs.get(call)
        if kind == "tool-input-start":
            if known is None:
                self._inputs[call] = ""
            elif known:
                self._repeated.add(call)
            return known is None
        if kind == "tool-input-delta":
            if call in self._repeated:
                self._repeated.discard(call)
                return False
            self._inputs[call] = (known or "") + part["inputTextDelta"]
        else:
            self._inputs.pop(call, None)
            self._repeated.discard(call)
        return True


def text_of(parts: Iterable[Part]) -> str:
    """The text of a reply, read to its end."""
    return "".join(part["delta"] for part in parts if part["type"] == "text-delta")
