"""What the server refuses, as an exception."""

import httpx


class Refusal(Exception):
    """The server answered with a status of 400 or more.

    `code` is one of the codes of PROTOCOL.md; None if the answer is not the server's own, as that of a proxy.
    """

    def __init__(self, status: int, code: str | None, message: str, detail: object = None):
        super().__init__(f"{status} {code or 'without a code'}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.detail = detail


def raise_refusal(response: httpx.Response) -> None:
    """As a hook of httpx: before anything else reads the response."""
    if response.status_code < 400:
        return
    response.read()
    code, message, detail = None, response.reason_phrase, None
    try:
        body = response.json()
        # The routes of OpenAI's protocol have theirs one level further down.
        problem = body["error"] if isinstance(body["error"], dict) else body
        code, detail = problem["code"], problem.get("detail")
        message = problem.get("message", problem.get("error"))
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    raise Refusal(response.status_code, code, message, detail)
