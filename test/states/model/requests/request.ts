import type { Facts } from '../record/facts.js';
import type { ChangeName, InputOf, Sent } from '../record/play.js';

export interface Request {
  /** Requests with the same key have the same effect on the same record. */
  key: string;
  toSent: (facts: Facts) => Sent;
}

/** Creates a request that depends on the record only by the known sequence. */
export function request<Name extends ChangeName>(
  key: string,
  what: Name,
  sessionId: string,
  build: () => InputOf<Name>,
): Request {
  const toInput = once(key, () => frozen(build()));
  return {
    key,
    toSent: ({ sequence: known }) => {
      const input: object = toInput();
      return { what, sessionId, input: 'known' in input ? { ...input, known } : input };
    },
  };
}

/** Creates a request that depends on what its sender has read of the record. */
export function requestBy<Name extends ChangeName>(
  key: string,
  what: Name,
  sessionId: string,
  build: (facts: Facts) => InputOf<Name>,
): Request {
  return { key, toSent: (facts) => ({ what, sessionId, input: frozen(build(facts)) }) };
}

/** Creates an append. Its arguments are positional; the sixth is the known sequence. */
export function appendRequest(key: string, sessionId: string, build: () => string[]): Request {
  const toArgs = once(key, build);
  return {
    key,
    toSent: ({ sequence }) => ({
      what: 'append',
      sessionId,
      args: toArgs().with(5, String(sequence)),
    }),
  };
}

/** Caches built requests, since all states send the same few. */
const built = new Map<string, unknown>();

function once<Built>(key: string, build: () => Built): () => Built {
  return () => {
    if (!built.has(key)) built.set(key, build());
    return built.get(key) as Built;
  };
}

/** Freezes an input, so that a change that modifies it throws. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null)
    Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
