import type { ApiDeps } from '../../api/index.js';
import type { ExecuteInput } from '../../runs/runs.js';
import type { UncheckedAnswer } from '../../protocol/answers.js';
import type { AnswerResult } from '../../runs/record/answers.js';
import type { LogEntry } from '../../protocol/chunk.js';
import type { UserRow } from '../../protocol/rows.js';
import type { BeginResult } from '../../store/contract/runs.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { FakeSession } from './fake-session.js';

/** The agent's behaviour in a turn; `answers` resolves when no question is open any more. */
export type Play = (
  session: FakeSession,
  text: string,
  answers: () => Promise<void>,
) => Promise<void>;

export interface FakeRuntime {
  sessions: Map<string, FakeSession>;
  executor: { runs: ApiDeps['executor'] };
  stateStore: ApiDeps['stateStore'];
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
  agents: { has: (name: string) => boolean; getRegisteredTypes: () => string[] };
}

/** Creates an in-memory runtime behind the seams of the HTTP side, for tests of that side alone. */
export function createFakeRuntime(play: Play = () => Promise.resolve()): FakeRuntime {
  const sessions = new Map<string, FakeSession>();
  const accepted = new Map<string, string>();
  const waiting = new Map<string, () => void>();

  async function execute(input: ExecuteInput): Promise<BeginResult> {
    const session =
      sessions.get(input.sessionId) ?? new FakeSession(input.sessionId, input.agent, input.owner);
    const keyOf = (id: string): string => `${input.sessionId}/${id}`;
    for (const { id, hash } of input.messages) {
      const known = accepted.get(keyOf(id));
      if (known !== undefined && known !== hash) return { kind: 'conflict', messageId: id };
    }
    const fresh = input.messages.filter(({ id }) => !accepted.has(keyOf(id)));
    if (fresh.length === 0) return { kind: 'accepted' };
    const { interrupts = session.record.runId } = input;
    const mayEnd = input.policy === 'interrupt' && interrupts === session.record.runId;
    if (session.record.stream === 'active' && !mayEnd) return { kind: 'busy' };
    if (session.record.stream !== 'ended') session.end('interrupted');
    sessions.set(input.sessionId, session);
    for (const { id, hash } of fresh) accepted.set(keyOf(id), hash);
    const rows = fresh.map(({ row }) => row as UserRow);
    session.begin(...rows);
    const text = rows
      .at(-1)
      ?.parts.map((part) => (part.type === 'text' ? part.text : ''))
      .join('');
    const { sessionId, runId, agent, turn, messageId, turnStartSequence } = session.record;
    setImmediate(() => void play(session, text ?? '', () => untilAnswered(session)));
    const run = { sessionId, runId, agent, turn, messageId, startedAt: 1 };
    return { kind: 'begun', run: { ...run, startSequence: turnStartSequence } };
  }

  function untilAnswered(session: FakeSession): Promise<void> {
    session.pause();
    return new Promise((resolve) => waiting.set(session.record.sessionId, resolve));
  }

  function submitToolResult(answer: UncheckedAnswer): Promise<AnswerResult> {
    const session = sessions.get(answer.sessionId);
    const call = session?.openCalls.find(({ spec }) => spec.toolCallId === answer.toolCallId);
    if (session === undefined || call === undefined)
      return Promise.resolve({ kind: 'not_pending' });
    if (call.state !== 'waiting') return Promise.resolve({ kind: 'already_completed' });
    let sequence = answerWith(session, answer);
    if (session.isWaiting) return Promise.resolve({ kind: 'stored', sequence });
    session.resume();
    sequence = session.record.sequence;
    setImmediate(() => waiting.get(answer.sessionId)?.());
    return Promise.resolve({ kind: 'stored', sequence, resume: { step: 1, approved: [] } });
  }

  return {
    sessions,
    executor: {
      runs: playing({
        execute,
        submitToolResult,
        expireCalls: () => Promise.resolve(false),
        extendDeadline: () => Promise.resolve({ kind: 'not_pending' }),
        stop: (sessionId) => {
          const session = sessions.get(sessionId);
          if (session === undefined || session.record.stream === 'ended') {
            return Promise.resolve({ kind: 'nothing' });
          }
          session.end('interrupted');
          return Promise.resolve({ kind: 'ended', runId: session.record.runId });
        },
        pauses: playing({ isHeld: () => Promise.resolve(false) }),
      }),
    },
    stateStore: playing({
      sessions: playing({
        read: (sessionId) => Promise.resolve(sessions.get(sessionId)?.view().record),
        rows: (sessionId, from, to) =>
          Promise.resolve(sessions.get(sessionId)?.view().rows.slice(from, to) ?? []),
        children: () => Promise.resolve([]),
        carriers: () => Promise.resolve([]),
        runOf: () => Promise.resolve(undefined),
        askers: () => Promise.resolve([]),
        view: (sessionId) => Promise.resolve(sessions.get(sessionId)?.view()),
        withCalls: (sessionId) => Promise.resolve(sessions.get(sessionId)?.view()),
        noteActiveSnapshot: (sessionId, turn) => {
          const session = sessions.get(sessionId);
          if (session !== undefined) session.record.activeSnapshotTurn = turn;
          return Promise.resolve();
        },
        noteRestingSnapshot: (sessionId) => {
          delete sessions.get(sessionId)?.record.activeSnapshotTurn;
          return Promise.resolve();
        },
      }),
      owners: playing({ page: () => Promise.resolve({ conversations: [] }) }),
      audit: playing({
        record: () => Promise.resolve([]),
        knows: () => Promise.resolve(false),
        page: () => Promise.resolve({ entries: [] }),
      }),
      documents: playing({ readState: () => Promise.resolve({ customState: {}, version: 0 }) }),
      checkpoints: {
        get: () => Promise.resolve(null),
        latest: () => Promise.resolve(null),
        list: () => Promise.resolve({ checkpoints: [] }),
      },
      // This runtime has no queue: a busy session refuses.
      queue: playing({
        read: () => Promise.resolve([]),
        edit: () => Promise.resolve({ kind: 'not_queued' }),
        remove: () => Promise.resolve({ kind: 'removed', count: 0 }),
      }),
    }),
    streamManager: {
      read: (sessionId, from, limit) =>
        Promise.resolve(entriesAfter(sessions.get(sessionId), from).slice(0, limit)),
      follow: (sessionId, from, signal) => follow(sessions.get(sessionId), from, signal),
    },
    agents: {
      has: (name) => name === 'lab' || name === 'support',
      getRegisteredTypes: () => ['lab', 'support'],
    },
  };
}

function answerWith(session: FakeSession, answer: UncheckedAnswer): number {
  const { toolCallId } = answer;
  if (answer.kind === 'approval-response') {
    return session.decide(toolCallId, answer.approved, answer.reason);
  }
  const { error, result } = answer;
  session.settle(toolCallId, error === undefined ? { output: result } : { error });
  return session.record.sequence;
}

/** Completes an interface with methods that reject, which only tests on the real runtime cover. */
function playing<T extends object>(played: Partial<NoInfer<T>>): T {
  return new Proxy(played as unknown as T, {
    get: (of, name) =>
      name in of || typeof name === 'symbol'
        ? Reflect.get(of, name)
        : () => Promise.reject(new Error(`the fake runtime does not play ${name}`)),
  });
}

function entriesAfter(session: FakeSession | undefined, from: number): LogEntry[] {
  return session?.entries.filter(({ sequence }) => sequence > from) ?? [];
}

async function* follow(
  session: FakeSession | undefined,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[]> {
  let cursor = from;
  while (!signal.aborted) {
    const entries = entriesAfter(session, cursor);
    cursor = entries.at(-1)?.sequence ?? cursor;
    if (entries.length > 0) yield structuredClone(entries);
    else await nextAppend(session, signal);
  }
}

function nextAppend(session: FakeSession | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      leave?.();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const leave = session?.onAppend(done);
    signal.addEventListener('abort', done);
  });
}
