import { MockActivityEnvironment } from '@temporalio/testing';
import type { StepRef, ToolCallOutcome } from '../../protocol/activities.js';
import type { LanguageModel } from 'ai';
import { createActivities } from '../../activities/index.js';
import {
  AgentRegistry,
  defineAgent,
  type AgentConfig,
  type LlmConfig,
  type ToolDefinition,
} from '../../agents/index.js';
import type { z } from 'zod';
import type { StepOutcome } from '../../protocol/run.js';
import type { UserPart } from '../../protocol/rows.js';
import type { RunRecord } from '../../stores/contract/runs.js';
import { AGENT, drive, type SessionDriver } from './session-driver.js';
import type { TestStores } from './test-stores.js';

export interface AgentUnderTest {
  model: LanguageModel;
  tools?: readonly ToolDefinition[];
  systemPrompt?: string;
  /** Whatever else the agent is defined with. */
  more?: Partial<Omit<AgentConfig<z.ZodType, z.ZodType>, 'llmConfig'>> & {
    llmConfig?: Partial<LlmConfig>;
  };
}

/** The real activities over a real store, run as a worker would run them. */
export interface ActivityHarness {
  session: SessionDriver;
  begin: (...content: UserPart[]) => Promise<RunRecord>;
  /** Runs a model step as the given attempt, in an environment that may be given. */
  step: (
    run: RunRecord,
    step: number,
    attempt?: number,
    environment?: MockActivityEnvironment,
    more?: Partial<StepRef>,
  ) => Promise<StepOutcome>;
  tool: (
    run: RunRecord,
    step: number,
    toolCallId: string,
    attempt?: number,
  ) => Promise<'settled' | 'stopped' | 'superseded'>;
  /** The same, with all that the workflow is told. */
  outcome: (
    run: RunRecord,
    step: number,
    toolCallId: string,
    attempt?: number,
  ) => Promise<ToolCallOutcome>;
  /** Steps and server tools, one after another, until the run ends or waits. */
  play: (run: RunRecord, fromStep?: number) => Promise<StepOutcome>;
}

/** An activity environment of one attempt; later attempts are scheduled later. */
export function attemptOf(attempt: number): MockActivityEnvironment {
  return new MockActivityEnvironment({
    attempt,
    currentAttemptScheduledTimestampMs: 1_700_000_000_000 + attempt * 1_000,
  });
}

export function createHarness(stores: TestStores, agent: AgentUnderTest): ActivityHarness {
  const session = drive(stores);
  const agents = new AgentRegistry([
    defineAgent({
      name: AGENT,
      systemPrompt: agent.systemPrompt ?? 'Be brief.',
      tools: agent.tools ?? [],
      ...agent.more,
      llmConfig: { model: agent.model, ...agent.more?.llmConfig },
    }),
  ]);
  const activities = createActivities({
    store: stores.store,
    streamManager: stores.streamManager,
    agents,
    services: {},
    startNext: () => Promise.resolve(),
    logger: { info: () => undefined, warn: () => undefined },
  });
  let messages = 0;
  const ref = (run: RunRecord, step: number) => ({
    sessionId: session.id,
    runId: run.runId,
    agent: AGENT,
    turn: run.turn,
    step,
    maxSteps: 50,
    known: 0,
  });
  const harness: ActivityHarness = {
    session,
    begin: async (...content) => {
      messages += 1;
      const id = `u${String(messages)}`;
      const parts = content.length > 0 ? content : [{ type: 'text' as const, text: 'hi' }];
      const row = { role: 'user' as const, id, parts };
      const result = await session.begin({ messages: [{ id, hash: id, row, hidden: false }] });
      if (result.kind !== 'begun') throw new Error(`begin replied ${result.kind}`);
      return result.run;
    },
    step: (run, step, attempt = 1, environment = attemptOf(attempt), more = {}) =>
      abandonable(environment.run(activities.modelStep, { ...ref(run, step), ...more })),
    outcome: (run, step, toolCallId, attempt = 1) =>
      abandonable(attemptOf(attempt).run(activities.toolCall, { ...ref(run, step), toolCallId })),
    tool: async (...call) => (await harness.outcome(...call)).kind,
    play: async (run, fromStep = 1) => {
      for (let step = fromStep; ; step += 1) {
        const outcome = await harness.step(run, step);
        if (outcome.kind !== 'calls') return outcome;
        for (const call of outcome.calls) {
          if (call.kind === 'server') await harness.tool(run, step, call.toolCallId);
        }
        if (outcome.calls.some(({ kind }) => kind !== 'server')) return outcome;
      }
    },
  };
  return harness;
}

/** Attempts that a test leaves behind, as a lost worker does, fail when the stores are closed. */
function abandonable<T>(attempt: Promise<T>): Promise<T> {
  attempt.catch(() => undefined);
  return attempt;
}
