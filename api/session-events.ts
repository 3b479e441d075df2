import { StreamBrokenError, toPendingQuestions, toQueue, type UIMessage } from '../ai-sdk/index.js';
import type { StreamMessage } from '../protocol/chunk.js';
import { toShownSessionId } from '../protocol/ids.js';
import type { SessionEvent } from '../protocol/replies.js';
import { sleep } from '../protocol/time.js';
import type { SessionCalls, SessionRecord } from '../store/contract/sessions.js';
import { toCallDecisions } from '../ai-sdk/reply/build-snapshot.js';
import { toNewestRun } from '../runs/record/newest-run.js';
import type { Store } from '../store/contract/store.js';
import type { StreamManager } from '../store/log/stream-manager.js';

export interface SessionEventDeps {
  stateStore: Pick<Store, 'sessions' | 'queue'>;
  streamManager: Pick<StreamManager, 'follow'>;
  /** Marks the calls that the reader may not decide. Default: the reader may decide all. */
  judge?: (found: SessionCalls) => Promise<SessionCalls>;
  /** Returns true if the run waits for its paused agent. Default: no run does. */
  isHeld?: ((record: SessionRecord) => Promise<boolean>) | undefined;
}

/** Interval of checks for changes without a stream entry, such as an extended deadline, ms. */
const RECHECK_MS = 15_000;
/** Interval while a run starts, ms: a model may think for long before it writes the first entry. */
const STARTING_RECHECK_MS = 2_000;

const CHANGING: ReadonlySet<StreamMessage['type']> = new Set<StreamMessage['type']>([
  'step_start',
  'step_discarded',
  'run_paused',
  'run_resumed',
  'run_interrupted',
  'stream_end',
  'stream_resync',
  'turn_started',
  'queue_changed',
  'executor_superseded',
  'error',
  'tool_start',
  'tool_approval_request',
  'tool_approval_response',
  'tool_end',
  'tool_output_error',
]);

/**
 * Streams the state of a session as SSE: now and at each change, across pauses, ends and new turns.
 * Ends when the session is erased.
 *
 * @throws StreamBrokenError, and errors of following the log; a reader that reconnects misses nothing
 */
export async function* createSessionEvents(
  deps: SessionEventDeps,
  sessionId: string,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const first = await readEvent(deps, sessionId);
  if (first === undefined) return;
  yield format(first);
  let sent = withoutSequence(first);
  const log = deps.streamManager.follow(sessionId, first.sequence, signal);
  const entries = log[Symbol.asyncIterator]();
  let next = takeNext(entries);
  let wait = recheckAfter(first);
  let recheck = delay(wait, signal);
  for (;;) {
    const read = await Promise.race([next, recheck]);
    if (signal.aborted) return;
    if (read !== undefined) {
      if (read.done === true) throw new StreamBrokenError('the log broke off');
      next = takeNext(entries);
      if (!read.value.some(({ message }) => CHANGING.has(message.type))) continue;
    }
    const event = await readEvent(deps, sessionId);
    if (event === undefined) return;
    const before = wait;
    wait = recheckAfter(event);
    if (read === undefined || wait < before) recheck = delay(wait, signal);
    const state = withoutSequence(event);
    if (state === sent) continue;
    sent = state;
    yield format(event);
  }
}

/** Takes the next item. A failure that nothing awaits yet is no unhandled rejection. */
function takeNext<T>(iterator: AsyncIterator<T>): Promise<IteratorResult<T>> {
  const next = iterator.next();
  next.catch(() => undefined);
  return next;
}

/** Returns undefined if the session does not exist. */
async function readEvent(
  { stateStore, judge, isHeld }: SessionEventDeps,
  sessionId: string,
): Promise<SessionEvent<UIMessage> | undefined> {
  const [found, queue] = await Promise.all([
    stateStore.sessions.withCalls(sessionId),
    stateStore.queue.read(sessionId),
  ]);
  if (found === undefined) return undefined;
  const { record, openCalls } = (await judge?.(found)) ?? found;
  const { sequence, stream, turn, messageId } = record;
  return {
    sessionId: toShownSessionId(sessionId),
    sequence,
    status: stream,
    run: toNewestRun(record, Date.now(), await isHeld?.(record)),
    turn,
    messageId,
    pending: toPendingQuestions(openCalls),
    ...toCallDecisions(openCalls),
    queue: toQueue(queue),
  };
}

function format(event: SessionEvent): string {
  return `id: ${String(event.sequence)}\ndata: ${JSON.stringify(event)}\n\n`;
}

function withoutSequence({ sequence: _sequence, ...state }: SessionEvent): string {
  return JSON.stringify(state);
}

function recheckAfter({ run }: SessionEvent): number {
  const starts = run.status === 'starting' && run.waitingFor === undefined;
  return starts ? STARTING_RECHECK_MS : RECHECK_MS;
}

async function delay(ms: number, signal: AbortSignal): Promise<undefined> {
  await sleep(ms, signal);
  return undefined;
}
