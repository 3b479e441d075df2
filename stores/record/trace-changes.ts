import { rootOf, sessionOfRun } from '../../protocol/ids.js';
import type { SettleCallInput } from '../contract/calls.js';
import type { OpenCall } from '../contract/call-record.js';
import type { Store } from '../contract/store.js';
import { commonAttributes, legSpan, spanBelow, toolAttributes } from './leg-spans.js';
import type { LegTraces } from './leg-traces.js';
import type { Leg, RunOfSession } from './legs.js';

/**
 * A store that writes spans of what its transitions end: legs, and waits for people. An attempt
 * that finds a transition made before looks as well, since the process that made it may have died
 * before it wrote the span.
 */
export function traceChanges(store: Store, traces: LegTraces | undefined): Store {
  if (traces === undefined) return store;
  const { steps, runs, calls, waiting } = store;
  const { current, lookAtEnd } = traces;

  return {
    ...store,
    steps: {
      ...steps,
      claim: async (input) => {
        const result = await steps.claim(input);
        if (result.kind === 'done' || result.kind === 'superseded') lookAtEnd(current());
        return result;
      },
      commit: async (input) => {
        const result = await steps.commit(input);
        const { kind } = result;
        const goesOn = kind === 'committed' && !result.paused && input.final === undefined;
        // That of a sub-agent rests while others are running.
        if (!goesOn || rootOf(input.writer.sessionId) !== input.writer.sessionId) {
          lookAtEnd(current());
        }
        return result;
      },
    },
    runs: {
      ...runs,
      end: async (input) => {
        const leg = await readOpen(input);
        const result = await runs.end(input);
        if (result.kind === 'ended') lookAtEnd(leg);
        return result;
      },
      stop: async (sessionId, stop) => {
        const newest = await store.sessions.read(rootOf(sessionId)).catch(() => undefined);
        const leg = newest && (await readOpen(newest));
        const result = await runs.stop(sessionId, stop);
        if (result.kind === 'ended') lookAtEnd(leg);
        return result;
      },
    },
    calls: {
      ...calls,
      start: async (input) => {
        const result = await calls.start(input);
        if (result.kind === 'settled' || result.kind === 'superseded') lookAtEnd(current());
        return result;
      },
      settle: async (input) => {
        if (input.source === 'tool' || input.source === 'child') {
          const result = await calls.settle(input);
          lookAtEnd(current());
          return result;
        }
        const wait = await readWait(input);
        const result = await calls.settle(input);
        if (result.kind === 'stored' && wait !== undefined) writeWait(input, wait);
        return result;
      },
    },
  };

  /** The leg of a run that is active; one that waits, or has ended, has left its leg before. */
  async function readOpen({ sessionId, runId }: RunOfSession): Promise<Leg | undefined> {
    const known = current();
    const leg = known?.runId === runId ? known : await traces?.read({ sessionId, runId });
    return leg?.wasLeft === true ? undefined : leg;
  }

  /** Before the answer: the list forgets a conversation that no longer waits. */
  async function readWait(input: PersonsAnswer): Promise<Wait | undefined> {
    const run = { sessionId: sessionOfRun(input.runId), runId: input.runId };
    const [since, leg, call] = await Promise.all([
      waiting.since(rootOf(input.sessionId)).catch(() => undefined),
      traces?.read(run),
      calls.read(input.sessionId, input.toolCallId).catch(() => undefined),
    ]);
    if (since === undefined || leg === undefined || call === undefined) return undefined;
    return { since, leg, call };
  }

  /** A wait belongs to the leg that asked; its span is longer than that. */
  function writeWait(input: PersonsAnswer, { since, leg, call }: Wait): void {
    const { toolCallId, toolName, kind, step } = call.spec;
    const decision = 'decision' in input ? input.decision : undefined;
    const via = input.act?.via ?? decision?.via;
    traces?.write({
      title: `helix.wait ${toolName}`,
      id: spanBelow(leg, step, toolCallId, 'wait'),
      parent: legSpan(leg).span,
      kind: 'internal',
      startMs: since,
      endMs: Math.max(since, Date.now()),
      attributes: {
        ...commonAttributes(leg, 'helix.wait'),
        ...toolAttributes({ toolCallId, toolName }),
        'helix.wait.kind': kind,
        'helix.wait.expired': input.source === 'expiry',
        'helix.approval.decision': toWord(decision?.approved),
        'helix.approval.edited': decision === undefined ? undefined : decision.input !== undefined,
        'helix.approval.automatic':
          decision === undefined ? undefined : decision.automatic === true,
        'helix.approval.via': via,
      },
    });
  }
}

function toWord(approved: boolean | undefined): string | undefined {
  if (approved === undefined) return undefined;
  return approved ? 'approved' : 'denied';
}

type PersonsAnswer = Exclude<SettleCallInput, { source: 'tool' | 'child' }>;

interface Wait {
  since: number;
  leg: Leg;
  call: OpenCall;
}
