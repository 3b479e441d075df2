/**
 * Every number that is part of the contract. Free of imports, so that workflow code may use it.
 * Sizes are bytes of UTF-8 unless the name says otherwise; times are milliseconds.
 */
export const LIMITS = {
  /** Serialised chunk; larger ones are refused before a sequence is allocated. */
  chunkBytes: 256 * 1024,
  /** Serialised result of a tool call or answer. */
  answerBytes: 1024 * 1024,
  /** The agent's own state, serialised; what one call changes in it as well. */
  stateBytes: 1024 * 1024,
  /** A tool result up to this size travels inside its chunk; larger ones are kept apart. */
  inlineResultBytes: 64 * 1024,
  /** What one call says beside its result and history keeps; what comes after that is only shown. */
  callEventBytes: 256 * 1024,
  /** Arguments of one call; larger ones go back to the model as an error. */
  callInputBytes: 128 * 1024,
  /** Length of any id other than a session id. */
  idChars: 256,
  /** Error text that is stored or shown. */
  errorTextBytes: 8 * 1024,
  /** Metadata of one message; a larger one is dropped, the message is kept. */
  metadataBytes: 64 * 1024,
  /** One user message. */
  userMessageBytes: 1024 * 1024,
  /** Request body of a POST; stock clients send the whole conversation. */
  bodyBytes: 16 * 1024 * 1024,
  /** Arrays and objects within each other, in requests and in all that is stored; Redis takes 1,000. */
  jsonDepth: 500,
  /** JSON values in one request; more are refused before there are any. */
  jsonValues: 100_000,
  /** Messages of a conversation that is posted whole. */
  postedMessages: 20_000,
  /** Messages that one request says anew. */
  newMessages: 1_000,
  /** One append call; what does not fit goes into the next. */
  appendBytes: 64 * 1024,
  /** Entries of a session's stream before whole old turns are trimmed. */
  streamEntries: 10_000,
  /** Entries read from the log at once, so that live readers never stall behind a replay. */
  replayPage: 200,
  /** Messages that wait for their turn in one session; more are refused. */
  queueEntries: 50,
  /** Messages on one page of a conversation. */
  messagePage: 1_000,
  /** Sessions on one page of those that wait for people. */
  waitingSessions: 100,
  /** A run that writes nothing for this long counts as stalled, ms. */
  stalledMs: 60_000,
  /** A run at work that has written nothing for this long is looked up in Temporal on the next access, ms. */
  silentMs: 5_000,
  /** A run that was not started within this time ends, ms. */
  startWithinMs: 15 * 60 * 1000,
  /** How long a failing provider is asked again for one step, unless the agent says otherwise, ms. */
  retryForMs: 10 * 60 * 1000,
  /** Longest wait for a provider that keeps its worker's slot; during longer ones nobody works on the run. */
  waitInPlaceMs: 5_000,
  /** Attempts at a step, or executions of an idempotent tool, that may be lost within this time; then it ends. */
  attempts: { most: 5, withinMs: 60 * 60 * 1000 },
  /** How long a step or a call waits for a worker that knows its agent and tool, ms. */
  unknownAgentMs: 10 * 60 * 1000,
  /** How far ahead an extended deadline may lie. */
  deadlineAheadMs: 30 * 24 * 60 * 60 * 1000,
  /** How long a page may keep a client tool's call to itself before it says so again. */
  leaseMs: 10 * 60 * 1000,
  /** Model calls in one turn, unless the agent says otherwise. */
  maxSteps: 50,
  /** Calls of one step that are carried out, unless the agent says otherwise; the others get an error. */
  callsPerStep: 100,
  /** Silence of a model, after which it has failed; an agent may say otherwise. */
  stallTimeoutMs: 120_000,
  /** Results of an agent that do not fit its output schema, after which its run fails. */
  invalidFinishes: 3,
  /** Sub-agents below each other. */
  subAgentDepth: 5,
  /** Characters of one event that an agent on another server sends; results may be 1 MB before they are escaped. */
  remoteEventChars: 4 * 1024 * 1024,
  /** What one call shows of an agent on another server. */
  remoteAgentBytes: 16 * 1024 * 1024,
  /** Events that one call takes from an agent on another server. */
  remoteAgentEvents: 100_000,
  /** Sub-agents of one run of a conversation, at all depths. */
  subAgents: 100,
} as const;
