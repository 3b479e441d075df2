/**
 * All numbers of the contract, and what checks JSON and cuts text by them. No imports, so that
 * workflow code can use it. Sizes are UTF-8 bytes unless the name states otherwise; times are milliseconds.
 */
export const LIMITS = {
  /** Serialised chunk; larger ones are refused before a sequence is allocated. */
  chunkBytes: 256 * 1024,
  /** Serialised result of a tool call or answer. */
  answerBytes: 1024 * 1024,
  /** The agent's own state, serialised; also the limit for what one call changes in it. */
  stateBytes: 1024 * 1024,
  /** A tool result up to this size is sent inside its chunk; larger ones are stored apart. */
  inlineResultBytes: 64 * 1024,
  /** Events of one call that history keeps; later ones are only shown live. */
  callEventBytes: 256 * 1024,
  /** One preliminary result of a call; a larger one is not shown. */
  preliminaryBytes: 64 * 1024,
  /** All preliminary results of one call; those beyond are not shown. */
  callPreliminaryBytes: 1024 * 1024,
  preliminaryEveryMs: 100,
  /** Body of a call of a webhook. */
  webhookBytes: 256 * 1024,
  /** Arguments of one call; larger ones are returned to the model as an error. */
  callInputBytes: 128 * 1024,
  /** Length of any id other than a session id. */
  idChars: 256,
  /** Error text that is stored or shown. */
  errorTextBytes: 8 * 1024,
  /** Metadata of one message; larger metadata is dropped, the message is kept. */
  metadataBytes: 64 * 1024,
  userMessageBytes: 1024 * 1024,
  /** Text of a run in the result that a workflow gets; the rest stays in the conversation. */
  calledTextChars: 100_000,
  /** Schedules of a tenant, and the message of one. */
  schedules: 100,
  scheduledMessageBytes: 32 * 1024,
  /** Bounds of a schedule's interval, ms. */
  scheduleEveryMs: { min: 60_000, max: 366 * 24 * 60 * 60 * 1000 },
  /** Maximum distance of a run's start time from now, ms. */
  startAheadMs: 366 * 24 * 60 * 60 * 1000,
  /** A time further back than this is a mistake, for example seconds where ms are meant. */
  startAgoMs: 24 * 60 * 60 * 1000,
  /** One file of a conversation, unless the server has another limit. */
  fileBytes: 10 * 1024 * 1024,
  /** The largest file that a server may allow. */
  largestFileBytes: 64 * 1024 * 1024,
  /** Files of one conversation, and their sizes together. */
  files: 100,
  sessionFileBytes: 100 * 1024 * 1024,
  /** A file is stored, and served, in pieces of this size. */
  filePieceBytes: 256 * 1024,
  /** Retention of a file whose conversation does not exist yet, ms. */
  unclaimedFilesMs: 24 * 60 * 60 * 1000,
  /** Files that one model call is given as bytes; older ones are left out. */
  promptFileBytes: 32 * 1024 * 1024,
  /** Part of a text file that a model is given. */
  promptTextBytes: 256 * 1024,
  /** Request body of a POST; stock clients send the whole conversation. */
  bodyBytes: 16 * 1024 * 1024,
  /** Nesting of arrays and objects, in requests and in everything stored; Redis' limit is 1,000. */
  jsonDepth: 500,
  /** JSON values in one request; checked before the request is parsed. */
  jsonValues: 100_000,
  postedMessages: 20_000,
  newMessages: 1_000,
  /** One append call; the rest goes into the next call. */
  appendBytes: 64 * 1024,
  /** Entries of a session's stream before whole old turns are trimmed. */
  streamEntries: 10_000,
  /** Entries read from the log at once, so that live readers never stall behind a replay. */
  replayPage: 200,
  /** Queued messages in one session; more are refused. */
  queueEntries: 50,
  /** Queued messages of one session together. Every reader of a queue reads all of it. */
  queueBytes: 4 * 1024 * 1024,
  messagePage: 1_000,
  auditPage: 500,
  waitingSessions: 100,
  operatorPage: 100,
  /** Retention of the reply to a request with an `Idempotency-Key`, ms. */
  idempotencyMs: 24 * 60 * 60 * 1000,
  /** A filter of runs in Temporal's language. */
  runQueryChars: 4_096,
  /** A cursor into a list of Temporal's, whose server decides its length. */
  runCursorChars: 8_192,
  /** A run that writes nothing for this long is shown as stalled, ms. */
  stalledMs: 60_000,
  /** An active run that was silent for this long is checked in Temporal at the next access, ms. */
  silentMs: 5_000,
  /** A run that was not started within this time is ended, ms. */
  startWithinMs: 15 * 60 * 1000,
  /** Retry time of a failing provider for one step, unless the agent has its own limit, ms. */
  retryForMs: 10 * 60 * 1000,
  /** Longest wait for a provider that keeps the worker's slot. */
  waitInPlaceMs: 5_000,
  /** Attempts that may be lost within this time before a step or an idempotent tool fails. */
  attempts: { max: 5, withinMs: 60 * 60 * 1000 },
  /** Maximum wait of a step or a call for a worker that knows its agent and tool, ms. */
  unknownAgentMs: 10 * 60 * 1000,
  /** Duration of a leg before it hands over at the next step boundary, ms. */
  legMs: 10 * 60 * 1000,
  /** Metadata of a reply's part that viewers are shown, as JSON. */
  shownMetadataChars: 16 * 1024,
  /** Time limit of a tool without one of its own, ms. */
  toolMs: 30 * 60 * 1000,
  /** Maximum distance of an extended deadline from now. */
  deadlineAheadMs: 30 * 24 * 60 * 60 * 1000,
  /** Longest lease of a client tool's call by a page; the page may renew it. */
  leaseMs: 10 * 60 * 1000,
  /** Model calls in one turn, unless the agent has its own limit. */
  maxSteps: 50,
  /** Calls of one step that are executed, unless the agent has its own limit. */
  callsPerStep: 100,
  /** A model that is silent for this long has failed; agents may have their own limit. */
  stallTimeoutMs: 120_000,
  /** Number of results that do not fit an agent's output schema before its run fails. */
  invalidFinishes: 3,
  subAgentDepth: 5,
  /** Characters in one event from an agent on another server. */
  remoteEventChars: 4 * 1024 * 1024,
  /** All events that one call shows of an agent on another server. */
  remoteAgentBytes: 16 * 1024 * 1024,
  /** Events that one call accepts from an agent on another server. */
  remoteAgentEvents: 100_000,
  /** Tools that MCP servers offer to one run, without those that its agent leaves out. */
  mcpTools: 128,
  /** These tools together, serialised with their schemas. */
  mcpToolsBytes: 256 * 1024,
  mcpSchemaBytes: 32 * 1024,
  mcpMessageBytes: 4 * 1024 * 1024,
  /** Sub-agents in one run of a conversation, at all depths. */
  subAgents: 100,
} as const;

/**
 * Times after which the runtime acts by itself, ms. Tests and rehearsals that would wait for one of them set a shorter
 * one. Each process measures them by its own clock.
 */
export const TIMES = {
  /** A starting process waits this long for a server, and half as long for the reason why it does not answer. */
  serverMs: 10_000,
  /** A worker's lease lapses after this long without a renewal. */
  leaseMs: 1_500,
  renewMs: 400,
  /**
   * A worker whose main thread stands still, or cannot write, for this long no longer renews its lease. One that
   * stands still for twice as long is given up.
   */
  unresponsiveMs: 5_000,
  /** Wait after the lapse of a lease, until Temporal has dropped the dead worker's polls. */
  graceMs: 300,
  /** A judge that did not see a lease lapse waits this long, while the lease stays lapsed. */
  unseenMs: 3_000,
  /** Started calls of a dead worker that may not be repeated are taken over only after this long. */
  patientMs: 10_000,
  /** A workflow task of a dead worker is given to another one after this long; Temporal's default is 10 s. */
  workflowTaskMs: 5_000,
  /**
   * Between looks at an active run, at workflows that Temporal closed, and for a current version.
   */
  lookAgainMs: 5_000,
  /** A request that forks a run has this long to resume its copy; then the sweeper does. */
  forkMs: 8_000,
  /** A notice that its receiver did not take is sent again after this long at least. */
  noticeRetryMs: 5_000,
};

export type Times = typeof TIMES;

/** Returns at most `length` UTF-16 units of a text and splits no character. */
export function startOf(text: string, length: number): string {
  const whole = text.toWellFormed();
  const last = whole.charCodeAt(length - 1);
  const isCut = whole.length > length && last >= 0xd800 && last <= 0xdbff;
  return whole.slice(0, isCut ? length - 1 : length);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Returns true if arrays and objects in this JSON text are nested deeper than the limit. It scans
 * the text, because functions that walk values, also the engine's own, recurse.
 */
export function isDeeperThan(limit: number, json: string): boolean {
  // Every opening bracket needs a closing one.
  if (json.length <= 2 * limit) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case QUOTE:
        at = findEndOfString(json, at);
        if (at < 0) return false;
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        if (depth > limit) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      default:
    }
  }
  return false;
}

/** Parses a text that may be no JSON, for which it returns `otherwise`. */
export function tryParseJson(text: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return otherwise;
  }
}

export function isValueDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((inner) => isValueDeeperThan(limit - 1, inner));
}

function findEndOfString(json: string, start: number): number {
  let at = start;
  for (;;) {
    at = json.indexOf('"', at + 1);
    if (at < 0) return -1;
    let backslashes = 0;
    while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
}

/** Returns why a value cannot be stored as JSON, as a sentence's end; undefined if it can. */
export function findJsonFault(value: unknown): string | undefined {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    // `JSON.stringify` throws for cycles, BigInt, a failing toJSON, and very deep nesting.
  }
  if (json === undefined) return 'it cannot be written as JSON';
  return isDeeperThan(LIMITS.jsonDepth, json) ? 'it is nested too deeply' : undefined;
}

/** Keys as `JSON.stringify` writes them. */
const OF_PROTOTYPES = /"(?:__proto__|constructor)":/;

/**
 * Returns the text of `JSON.stringify` without the keys for which parsers that guard prototypes, the
 * AI SDK's among them, refuse a whole text: `__proto__`, and a `constructor` that has a `prototype`.
 */
export function withoutPrototypeKeys(json: string): string {
  if (!OF_PROTOTYPES.test(json)) return json;
  return JSON.stringify(
    JSON.parse(json, (key, value: unknown) => (isOfPrototypes(key, value) ? undefined : value)),
  );
}

/** Returns true if a JSON value has keys that `withoutPrototypeKeys` leaves out. */
export function hasPrototypeKeys(value: unknown): boolean {
  const json = JSON.stringify(value);
  return withoutPrototypeKeys(json) !== json;
}

function isOfPrototypes(key: string, value: unknown): boolean {
  if (key === '__proto__') return true;
  const isObject = typeof value === 'object' && value !== null;
  return key === 'constructor' && isObject && Object.hasOwn(value, 'prototype');
}
