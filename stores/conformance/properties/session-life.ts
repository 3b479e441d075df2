import { deepStrictEqual, ok } from 'node:assert/strict';
import { isTerminal } from '../../../protocol/run.js';
import type { Store } from '../../contract/store.js';
import { equal, includes } from '../assertions.js';
import { newCall, userMessage } from '../fixtures.js';
import type { SessionDriver } from '../session-driver.js';
import type { SessionEvent } from './session-events.js';

/** The reference model: what each attempt stored, and its outcome. */
interface Attempt {
  batch: number;
  spoken: string;
}

export interface SessionLife {
  /** Runs in the order in which they began. */
  runs: string[];
  /** Text of each committed attempt, in the order of the commits. */
  committed: string[];
  /** Number of permitted executions of each call. */
  executed: Map<string, number>;
  /** Calls with an accepted answer, and how many answers were accepted after a timeout. */
  answered: Map<string, number>;
}

/** Plays the events and brings the last run to an end. */
export async function liveSession(
  store: Store,
  session: SessionDriver,
  events: readonly SessionEvent[],
): Promise<SessionLife> {
  const attempts = new Map<string, Attempt>();
  const life: SessionLife = {
    runs: [],
    committed: [],
    executed: new Map(),
    answered: new Map(),
  };
  const calls: string[] = [];
  let messages = 0;
  let words = 0;

  async function live(event: SessionEvent): Promise<void> {
    const record = await store.sessions.read(session.id);
    const runId = record?.runId ?? 'none';
    const step = (record?.committedStep ?? 0) + 1;
    const attemptOf = (token: number): Attempt => {
      const key = `${runId}/${String(step)}/${String(token)}`;
      const attempt = attempts.get(key) ?? { batch: 0, spoken: '' };
      attempts.set(key, attempt);
      return attempt;
    };
    const callAt = (back: number): string => calls.at(-1 - back) ?? 'none';

    switch (event.do) {
      case 'begin': {
        messages += 1;
        const result = await session.begin({ messages: [userMessage(`u${String(messages)}`)] });
        if (result.kind === 'begun') life.runs.push(result.run.runId);
        break;
      }
      case 'claim':
        await session.claim(session.writer(runId, step, event.token));
        break;
      case 'say': {
        const attempt = attemptOf(event.token);
        const writer = session.writer(runId, step, event.token);
        const text = `w${String((words += 1))} `;
        const result = await session.say(writer, attempt.batch + 1, text);
        if (result.kind !== 'appended') break;
        for (let copy = 1; copy < event.copies; copy += 1) {
          equal(await session.say(writer, attempt.batch + 1, text), result);
        }
        attempt.batch += 1;
        attempt.spoken += text;
        break;
      }
      case 'commit': {
        const writer = session.writer(runId, step, event.token);
        const wanted = event.kinds.map((kind) =>
          newCall(`c${String((words += 1))}`, kind, kind === 'client' ? { deadlineMs: 1 } : {}),
        );
        const result = await session.commit(writer, { calls: wanted });
        if (result.kind !== 'committed') break;
        life.committed.push(attemptOf(event.token).spoken);
        calls.push(...wanted.map(({ toolCallId }) => toolCallId));
        if (event.copies > 1) {
          includes(await session.commit(writer, { calls: wanted }), { kind: 'done' });
        }
        break;
      }
      case 'start': {
        const id = callAt(event.call);
        const result = await session.start(runId, step - 1, id, event.token);
        if (result.kind === 'execute') {
          life.executed.set(id, Math.max(result.execution, life.executed.get(id) ?? 0));
        }
        break;
      }
      case 'finish':
        await session.finishCall(runId, step - 1, callAt(event.call), 'out', event.token);
        break;
      case 'decide':
      case 'answer': {
        const id = callAt(event.call);
        for (let copy = 0; copy < event.copies; copy += 1) {
          const result =
            event.do === 'decide'
              ? await session.decide(runId, id, event.yes)
              : await session.answer(runId, id, event.yes ? { output: 1 } : { error: 'no' });
          if (result.kind !== 'stored') continue;
          life.answered.set(id, (life.answered.get(id) ?? 0) + 1);
        }
        break;
      }
      case 'expire':
        await session.expire(runId, callAt(event.call));
        break;
      case 'discard': {
        const writer = session.writer(runId, step, event.token);
        const failure = { failure: 1 + words, reason: 'x', now: 1 };
        const result = await store.steps.discard({ writer, ...failure });
        if (result.kind === 'discarded') attemptOf(event.token).spoken = '';
        break;
      }
      case 'stop':
        await session.stop();
        break;
      case 'end':
        await session.end(runId, 'failed');
        break;
    }
  }

  for (const event of events) {
    await live(event);
    await checkRest(store, session.id);
  }
  // Whatever happened, every run can be ended.
  const last = await store.sessions.read(session.id);
  if (last !== undefined) await session.end(last.runId, 'interrupted');
  return life;
}

/** A run is paused exactly when only a person can continue it. */
async function checkRest(store: Store, sessionId: string): Promise<void> {
  const view = await store.sessions.view(sessionId);
  if (view === undefined || isTerminal(view.record.status)) return;
  const { record, openCalls } = view;
  const isModelBusy = record.claimedStep > record.committedStep || record.status === 'starting';
  const waits = openCalls.some(({ state }) => state === 'waiting');
  const isToolBusy = openCalls.some(({ state }) => state === 'open' || state === 'started');
  const rests = waits && !isModelBusy && !isToolBusy;
  deepStrictEqual(
    [record.stream === 'paused', record.status.startsWith('waiting')],
    [rests, rests],
    JSON.stringify(view),
  );
  const context = await store.calls.suspension(sessionId);
  ok((context !== null) === rests);
}
