import { toStoredJson } from '../../../../stores/record/to-stored-json.js';
import { createContents, type Contents } from '../../../../stores/redis/contents.js';
import { createKeySpace, type SessionKeys } from '../../../../stores/redis/keys.js';
import type { RequestOf, TransitionName } from '../../../../stores/transitions/library.js';
import type { Facts } from '../record/facts.js';

/** One call of the library as a store makes it: plain texts, so that it can be sent to any Redis. */
export interface Call {
  keys: readonly string[];
  args: readonly string[];
}

export interface Request {
  /** Two requests with the same key do the same to the same record. */
  key: string;
  toCall: (facts: Facts) => Call;
}

const keySpace = createKeySpace();
const keysBySession = new Map<string, SessionKeys>();

export function keysOf(sessionId: string): SessionKeys {
  let keys = keysBySession.get(sessionId);
  if (keys === undefined) {
    keys = keySpace.session(sessionId);
    keysBySession.set(sessionId, keys);
  }
  return keys;
}

/** The log expires after a day, sessions never. */
const SETTINGS = '86400 0';
const KNOWN = '"known":0,';

/** A request of any transition but `append`, the same for all records but for the sequence that is known. */
export function request<Name extends TransitionName>(
  key: string,
  name: Name,
  sessionId: string,
  build: (contents: Contents) => RequestOf<Name>,
): Request {
  const toCall = once(key, () => callOf(name, sessionId, build));
  return { key, toCall: ({ sequence }) => knowing(sequence, toCall()) };
}

/** A request that depends on what its sender has read of the record. */
export function requestBy<Name extends TransitionName>(
  key: string,
  name: Name,
  sessionId: string,
  build: (contents: Contents, facts: Facts) => RequestOf<Name>,
): Request {
  const toCall = (facts: Facts): Call => {
    return callOf(name, sessionId, (contents) => build(contents, facts));
  };
  return { key, toCall };
}

/** `append` takes its arguments by position; the seventh is the sequence that is known. */
export function appendRequest(key: string, sessionId: string, args: () => string[]): Request {
  const toCall = once(key, () => ({
    keys: keySpace.append(sessionId),
    args: ['append', ...args()],
  }));
  return {
    key,
    toCall: ({ sequence }) => {
      const call = toCall();
      return { ...call, args: call.args.with(6, String(sequence)) };
    },
  };
}

function callOf<Name extends TransitionName>(
  name: Name,
  sessionId: string,
  build: (contents: Contents) => RequestOf<Name>,
): Call {
  const contents = createContents();
  const json = toStoredJson(build(contents));
  const args = [name, sessionId, SETTINGS, json, ...contents.texts];
  return { keys: keysOf(sessionId).all, args };
}

/** The same few requests are sent in all states. */
const calls = new Map<string, Call>();

function once(key: string, build: () => Call): () => Call {
  return () => {
    let call = calls.get(key);
    if (call === undefined) {
      call = build();
      calls.set(key, call);
    }
    return call;
  };
}

/** Every sender knows the whole log: no store is restored here. */
function knowing(sequence: number, call: Call): Call {
  const json = call.args[3] ?? '';
  if (!json.includes(KNOWN)) return call;
  const known = json.replace(KNOWN, `"known":${String(sequence)},`);
  return { ...call, args: call.args.with(3, known) };
}
