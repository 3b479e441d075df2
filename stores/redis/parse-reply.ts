/** Transitions reply in JSON of what they spliced together of checked values; a view is a list. */
export function parseReply(transition: string, reply: unknown): unknown {
  if (Array.isArray(reply)) return reply;
  if (typeof reply === 'string') return JSON.parse(reply);
  throw new Error(`transition ${transition} replied ${String(reply)}`);
}
