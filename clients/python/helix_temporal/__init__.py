"""Conversations with agents of helix-temporal. `rest` has every route of the API, generated."""

from .connect import connect
from .conversation import Conversation
from .refusal import Refusal
from .reply import Part, ReplyBroken, ReplyWithdrawn, text_of

__all__ = ["Conversation", "Part", "Refusal", "ReplyBroken", "ReplyWithdrawn", "connect", "text_of"]
