"""Programs with the client: each line of stdin names one, and starts it; what it has seen is a line of stdout."""

import asyncio
import contextlib
import json
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import httpx
from helix_temporal import Conversation, Part, Refusal, ReplyWithdrawn, connect, text_of
from helix_temporal.reply import Reply
from helix_temporal.rest import Client
from helix_temporal.rest.api.default import get_snapshot, list_conversations, list_models


class Stage:
    """Where one program runs."""

    def __init__(self, url: str, session: str, say: Callable[[str, Any], None]):
        self.url = url
        self.session = session
        self.say = say

    def open(self) -> Conversation:
        return Conversation(connect(self.url), self.session, agent="lab")


def script(*steps: dict[str, Any]) -> str:
    return json.dumps({"script": steps})


def call(tool: str, call_id: str, **args: Any) -> dict[str, Any]:
    return {"tool": tool, "id": call_id, "args": args}


def kinds(parts: list[Part]) -> list[str]:
    return [part["type"] for part in parts]


def stream(stage: Stage) -> Any:
    text = script({"say": "One two three four.", "deltas": 4, "everyMs": 100})
    parts = list(stage.open().send(text, message_id="u1"))
    again = text_of(stage.open().send(text, message_id="u1"))
    messages = stage.open().snapshot().messages
    return {"kinds": kinds(parts), "text": text_of(parts), "again": again, "messages": len(messages)}


def approve(stage: Stage) -> Any:
    conversation = stage.open()
    first = list(conversation.send(script({"say": "May I?", "calls": [call("charge", "c1", amount=5)]})))
    asked = [question.to_dict() for question in conversation.pending()]
    rest = list(conversation.approve("c1", reason="fine"))
    return {
        "first": text_of(first),
        "asked": asked,
        "rest": kinds(rest),
        "text": text_of(rest),
        "nothing": list(conversation.follow()),
    }


def approve_elsewhere(stage: Stage) -> Any:
    list(stage.open().send(script({"say": "May I?", "calls": [call("charge", "c1", amount=5)]})))
    return {"text": text_of(stage.open().approve("c1", changed_input={"amount": 3}))}


def deny(stage: Stage) -> Any:
    conversation = stage.open()
    list(conversation.send(script({"calls": [call("charge", "c1", amount=5)]}, {"say": "Then not."})))
    rest = list(conversation.deny("c1", reason="too much"))
    return {"kinds": kinds(rest), "text": text_of(rest)}


def give(stage: Stage) -> Any:
    conversation = stage.open()
    list(conversation.send(script({"calls": [call("locate", "l1")]}, {"say": "There."})))
    return {"text": text_of(conversation.give("l1", {"city": "Berlin"}))}


def stop(stage: Stage) -> Any:
    conversation = stage.open()
    seen: list[Part] = []
    for part in conversation.send(script({"say": "word " * 200, "deltas": 200, "everyMs": 100})):
        seen.append(part)
        if kinds(seen).count("text-delta") == 2:
            conversation.stop()
    snapshot = conversation.snapshot()
    return {"kinds": kinds(seen), "status": snapshot.status, "run": snapshot.run.status}


def slow(stage: Stage) -> Any:
    """Says when it has begun, so that the test can break the connection."""
    seen: list[Part] = []
    for part in stage.open().send(script({"say": "word " * 60, "deltas": 60, "everyMs": 50})):
        seen.append(part)
        if kinds(seen).count("text-delta") == 3:
            stage.say("begun", True)
    return {"kinds": sorted(set(kinds(seen))), "starts": kinds(seen).count("start"), "text": text_of(seen)}


def leave(stage: Stage) -> Any:
    """Leaves the loop, answers, and reads on."""
    conversation = stage.open()
    seen: list[Part] = []
    for part in conversation.send(script({"say": "a b c d e f", "deltas": 6, "everyMs": 100})):
        seen.append(part)
        if kinds(seen).count("text-delta") == 2:
            break
    rest = list(conversation.follow())
    return {"text": text_of(seen + rest)}


SLOWLY = {"say": "one two three four five six seven eight nine ten", "deltas": 10, "everyMs": 50}
FAILING = {**SLOWLY, "fail": {"status": 500, "retryAfterMs": 50, "afterDeltas": 6, "times": 1}}


def withdrawn(stage: Stage) -> Any:
    """A reply that is withdrawn while it is read."""
    conversation = stage.open()
    seen: list[Part] = []
    error = None
    try:
        for part in conversation.send(script(FAILING)):
            seen.append(part)
    except ReplyWithdrawn as withdrawal:
        error = str(withdrawal)
    rest = list(conversation.follow())
    return {"error": error, "text": text_of(rest), "last": kinds(rest)[-1:], "nothing": list(conversation.follow())}


def withdrawn_behind(stage: Stage) -> Any:
    """A reply is withdrawn behind an answer, by the time at which the rest is read."""
    first = list(stage.open().send(script({"say": "May I?", "calls": [call("charge", "c1", amount=5)]}, FAILING)))
    conversation = stage.open()
    rest = conversation.approve("c1")
    while conversation.snapshot().status != "ended":
        time.sleep(0.1)
    parts = list(rest)
    return {"first": text_of(first), "text": text_of(parts), "starts": kinds(parts).count("start"), "nothing": list(conversation.follow())}


def conversations(stage: Stage) -> Any:
    list(stage.open().send(script({"say": "Hello."})))
    listed = list_conversations.sync(client=connect(stage.url), limit=50)
    models = list_models.sync(client=connect(stage.url))
    return {
        "sessions": [entry.session_id for entry in listed.conversations],
        "models": [model.id for model in models.data],
    }


def refusals(stage: Stage) -> Any:
    client = connect(stage.url)
    conversation = stage.open()
    list(conversation.send(script({"say": "Hello."})))

    def code(ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except Refusal as refusal:
            return [refusal.status, refusal.code]

    returned = asyncio.run(get_snapshot.asyncio("nowhere", client=Client(stage.url)))
    return {
        "agent": code(lambda: list(Conversation(client, f"{stage.session}-2", agent="nobody").send("x"))),
        "other": code(lambda: list(Conversation(client, stage.session, agent="support").send("x"))),
        "answered": code(lambda: conversation.approve("c9")),
        "missing": code(lambda: Conversation(client, "nowhere").snapshot()),
        "hostile": code(lambda: list(Conversation(client, "../agents?x=1#", agent="lab").send("x"))),
        "nothing": code(lambda: list(Conversation(client, "nowhere").follow())),
        "model": code(lambda: list(connect(stage.url).get_httpx_client().get("/v1/models/nobody"))),
        "asyncio": returned.code,
    }


def broken_input(stage: Stage) -> Any:
    """Connections as the server opens them again in the middle of a call's input."""
    begin: list[Part] = [{"type": "start", "messageId": "msg-1"}, {"type": "start-step"}]
    name: Part = {"type": "tool-input-start", "toolCallId": "c1", "toolName": "pay", "dynamic": True}

    def delta(text: str) -> Part:
        return {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": text}

    connections: list[list[tuple[Part, str]]] = [
        [(begin[0], ""), (begin[1], ""), (name, "5")],
        [(begin[0], ""), (begin[1], ""), (name, ""), (delta('{"amount":'), "6")],
        [(begin[0], ""), (begin[1], ""), (name, ""), (delta('{"amount":'), ""), (delta("5}"), "7"), ({"type": "finish"}, "8")],
    ]

    @contextlib.contextmanager
    def open_at(_: int | None) -> Iterator[httpx.Response]:
        events = [f"id: {at}\ndata: {json.dumps(part)}\n\n" if at else f"data: {json.dumps(part)}\n\n" for part, at in connections.pop(0)]
        yield httpx.Response(200, headers={"content-type": "text/event-stream"}, text="".join(events))

    parts = list(Reply(open_at, None, (0, 0, 0)))
    return {"kinds": kinds(parts), "input": "".join(part.get("inputTextDelta", "") for part in parts)}


def stranger(stage: Stage) -> Any:
    """Against a server that is not this one."""
    try:
        Conversation(connect(stage.url, "secret"), stage.session).snapshot()
    except Refusal as refusal:
        return {"status": refusal.status, "code": refusal.code}


def play(name: str, number: int, url: str, session: str) -> None:
    def say(key: str, value: Any) -> None:
        # One write: several programs run at the same time.
        sys.stdout.write(json.dumps({"number": number, key: value}) + "\n")
        sys.stdout.flush()

    try:
        say("result", globals()[name](Stage(url, session, say)))
    except Exception:
        say("error", traceback.format_exc())


for line in sys.stdin:
    threading.Thread(target=play, kwargs=json.loads(line), daemon=True).start()
