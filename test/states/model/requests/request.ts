import type { Facts } from '../record/facts.js';
import type { ChangeName, InputOf, Sent } from '../record/play.js';

export interface Request {
  /** Two requests with the same key do the same to the same record. */
  key: string;
  toSent: (facts: Facts) => Sent;
}

/** A request that is the same for all records but for the sequence that is known: no store is restored here. */
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

/** A request that depends on what its sender has read of the record. */
export function requestBy<Name extends ChangeName>(
  key: string,
  what: Name,
  sessionId: string,
  build: (facts: Facts) => InputOf<Name>,
): Request {
  return { key, toSent: (facts) => ({ what, sessionId, input: frozen(build(facts)) }) };
}

/** `append` takes its arguments by position; the sixth is the sequence that is known. */
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

/** The same few requests are sent in all states. */
const built = new Map<string, unknown>();

function once<Built>(key: string, build: () => Built): () => Built {
  return () => {
    if (!built.has(key)) built.set(key, build());
    return built.get(key) as Built;
  };
}

/** A change that changes its input fails. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null)
    Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
