"""One conversation with an agent, for programs that wait for what they ask."""

import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import quote

import httpx

from .reply import Part, Reply, ReplyWithdrawn
from .rest import AuthenticatedClient, Client
from .rest.api.default import answer_call, get_snapshot, stop_chat
from .rest.models import (
    AnswerCallBodyType0,
    AnswerCallBodyType1,
    AnswerCallBodyType2,
    FrontendSnapshot,
    PendingQuestion,
    StopChatBody,
)

# The server sends something more often than that, also while an agent is silent.
SILENCE = httpx.Timeout(30, read=45)


class Conversation:
    """A conversation by its id; the first message begins it with `agent`.

    >>> conversation = Conversation(connect("http://localhost:3000"), "desk-1", agent="support")
    >>> for part in conversation.send("Where is my order?"):
    ...     print(part)
    """

    def __init__(
        self, client: Client | AuthenticatedClient, session_id: str, agent: str | None = None
    ):
        self.session_id = session_id
        self._client = client
        self._agent = agent
        self._position: int | None = None
        self._is_final = True
        """Nothing up to the position can be withdrawn: the reply ended there, or waited."""
        self._is_withdrawn = False
        self._path = f"/api/chat/{quote(session_id, safe='')}"

    def send(self, text: str, *, message_id: str | None = None) -> Iterator[Part]:
        """Sends a message, and reads the reply until the agent is done or waits for people.

        It is sent when the first part is read.
        The server accepts a message once by its id, so a program that may be started again gives one of its own.
        """
        message = {
            "id": message_id or f"msg-{uuid.uuid4().hex}",
            "role": "user",
            "parts": [{"type": "text", "text": text}],
        }
        body: dict[str, Any] = {"messages": [message]}
        if self._agent is not None:
            body["agent"] = self._agent
        return self._read(body, None)

    def follow(self) -> Iterator[Part]:
        """What has been written since this object read last; the turn from its beginning if it read nothing.

        Nothing if there is nothing new. After a ReplyWithdrawn it is the turn from its beginning.
        """
        return self._read(None, None if self._is_withdrawn else self._position)

    def approve(
        self, tool_call_id: str, *, reason: str | None = None, changed_input: Any = None
    ) -> Iterator[Part]:
        """Approves a call, with another input if one is given, and reads the rest of the reply."""
        answer: dict[str, Any] = {"approved": True}
        if changed_input is not None:
            answer["input"] = changed_input
        if reason is not None:
            answer["reason"] = reason
        return self._answer(tool_call_id, AnswerCallBodyType0.from_dict(answer))

    def deny(self, tool_call_id: str, *, reason: str | None = None) -> Iterator[Part]:
        """Denies a call, and reads the rest of the reply."""
        answer: dict[str, Any] = {"approved": False}
        if reason is not None:
            answer["reason"] = reason
        return self._answer(tool_call_id, AnswerCallBodyType0.from_dict(answer))

    def give(self, tool_call_id: str, result: Any) -> Iterator[Part]:
        """Gives the result of a client tool, and reads the rest of the reply."""
        return self._answer(tool_call_id, AnswerCallBodyType1.from_dict({"result": result}))

    def fail(self, tool_call_id: str, error: str) -> Iterator[Part]:
        """Says that a client tool has failed, and reads the rest of the reply."""
        return self._answer(tool_call_id, AnswerCallBodyType2.from_dict({"error": error}))

    def snapshot(self) -> FrontendSnapshot:
        """History, state, open questions and the status of the conversation."""
        return get_snapshot.sync(self.session_id, client=self._client)

    def pending(self) -> list[PendingQuestion]:
        """The calls that wait for people, or for client tools."""
        return self.snapshot().pending or []

    def stop(self) -> None:
        """Stops the run; what was written is kept."""
        stop_chat.sync(self.session_id, client=self._client, body=StopChatBody())

    def _answer(self, tool_call_id: str, body: Any) -> Iterator[Part]:
        """The answer is stored when this returns, whether or not the rest is read."""
        if self._position is None or not self._is_final:
            self._position = int(self.snapshot().stream_sequence)
            self._is_final, self._is_withdrawn = True, False
        answer_call.sync(self.session_id, tool_call_id, client=self._client, body=body)
        return self.follow()

    def _read(self, message: dict[str, Any] | None, position: int | None) -> Iterator[Part]:
        http = self._client.get_httpx_client()
        known = self._position

        def get(headers: dict[str, str]) -> AbstractContextManager[httpx.Response]:
            return http.stream("GET", f"{self._path}/stream", headers=headers, timeout=SILENCE)

        def open_whole(after: int) -> AbstractContextManager[httpx.Response]:
            return get({"x-resume-at": str(after)})

        def open_at(after: int | None) -> AbstractContextManager[httpx.Response]:
            if after is not None:
                return get({"last-event-id": str(after)})
            if message is not None:
                return http.stream("POST", self._path, json=message, timeout=SILENCE)
            # Of a turn that was read before, and withdrawn.
            return get({}) if known is None else open_whole(known)

        reply = Reply(open_at, position, open_whole=open_whole, is_final=self._is_final)
        self._is_withdrawn = False
        try:
            for part in reply:
                self._position = reply.delivered if reply.delivered is not None else known
                self._is_final = part["type"] == "finish"
                yield part
        except ReplyWithdrawn:
            self._is_withdrawn = True
            raise
