import { rootOf, sessionOfRun } from '../../protocol/ids.js';
import type { OpenCall } from '../contract/call-record.js';
import type { SettleCallInput } from '../contract/calls.js';
import type { Store } from '../contract/store.js';
import { commonAttributes, legSpan, spanBelow, toolAttributes } from './leg-spans.js';
import type { LegTraces } from './leg-traces.js';
import type { Leg } from './legs.js';

/** An answer of a person or a client, or its deadline. */
export type PersonsAnswer = Exclude<SettleCallInput, { source: 'tool' | 'child' }>;

/** How a wait ended: `lost` with a run whose workflow is gone. */
export type WaitEnd = 'answered' | 'expired' | 'stopped' | 'abandoned' | 'lost';

/** What waits for people, as it was read before the change that ends it. */
export interface Wait {
  since: number;
  leg: Leg;
  call: OpenCall;
}

export interface WaitSpans {
  /** The wait that an answer would end. */
  readOne: (input: PersonsAnswer) => Promise<Wait | undefined>;
  /** All waits of a conversation. */
  readAll: (sessionId: string) => Promise<Wait[]>;
  answered: (input: PersonsAnswer, wait: Wait) => void;
  /** Ended without an answer. */
  ended: (waits: readonly Wait[], how: WaitEnd) => void;
}

/** Spans of waits. They are read before the change: the list forgets a conversation that no longer waits. */
export function createWaitSpans(
  { waiting, calls, sessions }: Pick<Store, 'waiting' | 'calls' | 'sessions'>,
  traces: LegTraces,
): WaitSpans {
  const sinceOf = (sessionId: string): Promise<number | undefined> =>
    waiting.since(rootOf(sessionId)).catch(() => undefined);
  const legOf = (runId: string): Promise<Leg | undefined> =>
    traces.read({ sessionId: sessionOfRun(runId), runId });

  /** A wait belongs to the leg that asked; its span is longer than that. */
  function write({ since, leg, call }: Wait, how: WaitEnd, attributes = {}): void {
    const { toolCallId, toolName, kind, step } = call.spec;
    traces.write({
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
        'helix.wait.end': how,
        'helix.wait.expired': how === 'expired',
        ...attributes,
      },
    });
  }

  return {
    readOne: async ({ sessionId, runId, toolCallId }) => {
      const [since, leg, call] = await Promise.all([
        sinceOf(sessionId),
        legOf(runId),
        calls.read(sessionId, toolCallId).catch(() => undefined),
      ]);
      if (since === undefined || leg === undefined || call === undefined) return undefined;
      return { since, leg, call };
    },
    readAll: async (sessionId) => {
      const since = await sinceOf(sessionId);
      if (since === undefined) return [];
      const found = await sessions.withCalls(rootOf(sessionId)).catch(() => undefined);
      const open = found?.openCalls.filter(({ state }) => state === 'waiting') ?? [];
      const waits = open.map(async (call) => ({ since, call, leg: await legOf(call.spec.runId) }));
      return (await Promise.all(waits)).flatMap(({ leg, ...wait }) =>
        leg === undefined ? [] : { ...wait, leg },
      );
    },
    answered: (input, wait) => {
      const decision = 'decision' in input ? input.decision : undefined;
      write(wait, input.source === 'expiry' ? 'expired' : 'answered', {
        'helix.approval.decision': toWord(decision?.approved),
        'helix.approval.edited': decision === undefined ? undefined : decision.input !== undefined,
        'helix.approval.automatic':
          decision === undefined ? undefined : decision.automatic === true,
        'helix.approval.via': input.act?.via ?? decision?.via,
      });
    },
    ended: (waits, how) => {
      for (const wait of waits) write(wait, how);
    },
  };
}

function toWord(approved: boolean | undefined): string | undefined {
  if (approved === undefined) return undefined;
  return approved ? 'approved' : 'denied';
}
