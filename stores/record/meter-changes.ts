import { rootOf } from '../../protocol/ids.js';
import { isTerminal, type TerminalStatus } from '../../protocol/run.js';
import {
  NO_METER,
  type AttemptEnd,
  type RunEvent,
  type RunMeter,
} from '../../protocol/run-meter.js';
import type { SettleCallInput } from '../contract/calls.js';
import type { CommitInput } from '../contract/steps.js';
import type { Store } from '../contract/store.js';

/** Results of a transition that say why an attempt may not write any more. */
const LOST: Record<string, AttemptEnd> = {
  fenced: 'fenced',
  superseded: 'fenced',
  rewound: 'rewound',
  exhausted: 'exhausted',
};

/**
 * A store that reports what its transitions change, as far as the transition was the first to do it:
 * repeated requests get their first result, and count once. What only serves counting refuses no
 * transition: where it fails, nothing is counted.
 */
export function meterChanges(store: Store, meter: RunMeter): Store {
  if (meter === NO_METER) return store;
  const { runs, steps, calls, sessions, waiting } = store;

  const lost = (kind: string): void => {
    const outcome = LOST[kind];
    if (outcome !== undefined) meter({ kind: 'attempt_ended', outcome });
  };
  const ended = (agent: string, status: TerminalStatus, code?: string): void => {
    meter({ kind: 'run_ended', agent, status, code: status === 'failed' ? code : undefined });
  };

  return {
    ...store,
    steps: {
      ...steps,
      claim: async (input) => {
        const result = await steps.claim(input);
        lost(result.kind);
        return result;
      },
      commit: async (input) => {
        const result = await steps.commit(input);
        if (result.kind === 'committed' || result.kind === 'steered') {
          meter({ kind: 'attempt_ended', outcome: input.answersStop ? 'cut' : 'committed' });
        }
        if (result.kind === 'committed') reportFinal(input);
        lost(result.kind);
        return result;
      },
      discard: async (input) => {
        const result = await steps.discard(input);
        if (result.kind === 'discarded') {
          meter({ kind: 'attempt_ended', outcome: 'discarded', code: input.reason });
        }
        lost(result.kind);
        return result;
      },
      handOver: async (input) => {
        const result = await steps.handOver(input);
        const { how, toolCallId } = input;
        if (result.kind === 'handed_over' && toolCallId === undefined && how !== 'retry') {
          meter({ kind: 'attempt_ended', outcome: how });
        }
        return result;
      },
    },
    runs: {
      ...runs,
      begin: async (input) => {
        const result = await runs.begin(input);
        const begun = 'run' in result ? result.run : undefined;
        if (begun?.supersededRunId !== undefined) ended(begun.agent, 'interrupted');
        return result;
      },
      end: async (input) => {
        // A run that has ended ends again without harm, for instance after a stop.
        const before = await sessions.read(input.sessionId).catch(() => undefined);
        const result = await runs.end(input);
        const isNews = before?.runId !== input.runId || !isTerminal(before.status);
        if (result.kind === 'ended' && before !== undefined && isNews) {
          ended(input.agentType, result.status, input.error?.code);
        }
        return result;
      },
      stop: async (sessionId, stop) => {
        const before = await sessions.read(rootOf(sessionId)).catch(() => undefined);
        const result = await runs.stop(sessionId, stop);
        if (result.kind === 'ended' && before !== undefined) {
          ended(before.agent, stop.mode === 'abort' ? 'aborted' : 'interrupted');
        }
        return result;
      },
    },
    calls: {
      ...calls,
      settle: async (input) => {
        const answered = toAnswered(input);
        if (answered === undefined || input.source === 'tool') return calls.settle(input);
        // Asked for before the answer: the list forgets a conversation that no longer waits.
        const reading = waiting.since(input.sessionId).catch(() => undefined);
        const [since, result] = await Promise.all([reading, calls.settle(input)]);
        if (result.kind === 'stored') {
          const waitedSeconds =
            since === undefined ? undefined : Math.max(0, Date.now() - since) / 1_000;
          meter({ ...answered, waitedSeconds });
        }
        return result;
      },
    },
  };

  function reportFinal({ writer, final }: CommitInput): void {
    if (final !== undefined) ended(writer.agentType, final.status, final.error?.code);
  }
}

/** An answer, or that none came in time; undefined for results of tools and sub-agents. Pure. */
function toAnswered(
  input: SettleCallInput,
): Extract<RunEvent, { kind: 'call_answered' }> | undefined {
  switch (input.source) {
    case 'approval': {
      const { approved, via = 'api' } = input.decision;
      const source = input.act?.via ?? via;
      const decision = approved ? 'approved' : 'denied';
      return { kind: 'call_answered', asked: 'approval', decision, source };
    }
    case 'client': {
      const { error, via = 'api' } = input.row;
      const source = input.act?.via ?? via;
      const decision = error === undefined ? 'result' : 'error';
      return { kind: 'call_answered', asked: 'client', decision, source };
    }
    case 'expiry': {
      const asked = input.decision === undefined ? 'client' : 'approval';
      return { kind: 'call_answered', asked, decision: 'expired', source: 'auto' };
    }
    case 'tool':
    case 'child':
    case 'webhook':
      return undefined;
  }
}
