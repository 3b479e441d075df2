import type { BusyPolicy } from '../../../protocol/replies.js';
import type { UncheckedAnswer } from '../../../protocol/answers.js';
import { isTerminal } from '../../../protocol/run.js';
import type { RunRecord } from '../../../store/contract/runs.js';
import type { RunHarness } from '../../support/run-harness.js';
import { userMessage } from '../../support/session-driver.js';
import type { TestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

/** Something that happens to a conversation; resolves with it when all is over. */
export type RecordedScenario = (stage: Stage) => Promise<RunRecord>;

/** What scenarios are played on: real engines, a worker, and the lab agent. */
export interface Stage {
  runs: RunHarness;
  /** Begins a run with a script, one entry per model call. */
  begin: (script: object[], agent?: string) => Promise<RunRecord>;
  /** Says something more, by a script as well. */
  send: (run: RunRecord, script: object[], policy?: BusyPolicy) => Promise<void>;
  /** Resolves when people are asked. */
  untilAsked: (run: RunRecord) => Promise<unknown>;
  /** Resolves when the conversation's log has this text, or a chunk of this type. */
  untilTold: (run: RunRecord, text: string) => Promise<unknown>;
  approve: (run: RunRecord, toolCallId: string, more?: Partial<UncheckedAnswer>) => Promise<void>;
  deny: (run: RunRecord, toolCallId: string, reason?: string) => Promise<void>;
  give: (run: RunRecord, toolCallId: string, answer: object) => Promise<void>;
  stop: (run: RunRecord, mode?: 'interrupt' | 'abort') => Promise<void>;
  /** Resolves with the run when its conversation is at rest and nothing waits. */
  untilOver: (run: RunRecord) => Promise<RunRecord>;
}

export function setStage(runs: RunHarness, { store, streamManager }: TestStores): Stage {
  let asked = 0;

  async function ask(
    sessionId: string,
    agent: string,
    script: object[],
    policy?: BusyPolicy,
  ): Promise<Awaited<ReturnType<RunHarness['executor']['execute']>>> {
    const messages = [userMessage(`asked-${String((asked += 1))}`, JSON.stringify({ script }))];
    const given = { sessionId, agent, owner: 'ann', messages };
    const result = await runs.executor.execute(policy === undefined ? given : { ...given, policy });
    await runs.executor.idle();
    return result;
  }

  async function answer(given: UncheckedAnswer): Promise<void> {
    const { kind } = await runs.executor.submitToolResult(given);
    if (kind !== 'stored') throw new Error(`the answer was refused as ${kind}`);
  }

  async function decide(
    { sessionId }: RunRecord,
    toolCallId: string,
    approved: boolean,
    more: object,
  ): Promise<void> {
    await answer({
      sessionId,
      kind: 'approval-response',
      toolCallId,
      approved,
      by: 'ann',
      ...more,
    });
  }

  return {
    runs,
    begin: async (script, agent = 'lab') => {
      const result = await ask(runs.newSessionId(), agent, script);
      if (result.kind !== 'begun') throw new Error(`begin replied ${result.kind}`);
      return result.run;
    },
    send: async ({ sessionId, agent }, script, policy) => {
      await ask(sessionId, agent, script, policy);
    },
    untilAsked: ({ sessionId }) =>
      runs.untilStatus(sessionId, 'waiting_approval', 'waiting_tool', 'waiting_children'),
    untilTold: ({ sessionId, startSequence }, text) =>
      until(`"${text}" is in the log`, async () => {
        const entries = await streamManager.read(sessionId, startSequence, 1_000);
        const texts = entries.map(({ message }) =>
          message.type === 'text_delta' ? message.delta : ` ${message.type} `,
        );
        return texts.join('').includes(text);
      }),
    approve: (run, toolCallId, more = {}) => decide(run, toolCallId, true, more),
    deny: (run, toolCallId, reason) =>
      decide(run, toolCallId, false, reason === undefined ? {} : { reason }),
    give: ({ sessionId }, toolCallId, given) => answer({ sessionId, toolCallId, ...given }),
    stop: async ({ sessionId }, mode = 'interrupt') => {
      await runs.executor.stop(sessionId, { mode });
    },
    untilOver: async (run) => {
      const record = await until('all is over', async () => {
        const now = await store.sessions.read(run.sessionId);
        const isOver = now !== undefined && isTerminal(now.status) && now.queued === 0;
        return isOver ? now : undefined;
      });
      // What the workflow does after the end is part of the recording, or it would be of the next.
      await runs.result({ ...run, runId: record.runId });
      return run;
    },
  };
}
