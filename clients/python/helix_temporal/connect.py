"""A client for the generated routes that raises refusals."""

from typing import Any

import httpx

from .refusal import raise_refusal
from .rest import AuthenticatedClient, Client


def connect(base_url: str, token: str | None = None, **options: Any) -> Client | AuthenticatedClient:
    """The API at `base_url`; `options` are those of `httpx.Client`.

    Every function of `rest.api` takes the result as `client`, and raises a Refusal for a status of 400 or more.
    It is for functions that wait (`sync`); the `asyncio` ones take a client of `rest`, and return the refusal.
    """
    hooks = options.pop("event_hooks", {})
    raising = {**hooks, "response": [*hooks.get("response", []), raise_refusal]}
    httpx_args = {**options, "event_hooks": raising}
    timeout = httpx_args.pop("timeout", httpx.Timeout(30))
    if token is None:
        return Client(base_url, timeout=timeout, httpx_args=httpx_args)
    return AuthenticatedClient(base_url, token, timeout=timeout, httpx_args=httpx_args)
