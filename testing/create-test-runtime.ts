import { AgentRegistry, type AgentDefinition } from '../agents/index.js';
import type { AgentExecutor, ExecuteOptions } from '../runs/executor-of.js';
import type { AgentInput } from '../runs/agent-input.js';
import { createInProcessExecutor } from '../extensions/one-process/create-executor.js';
import { createMemoryStores, type MemoryStores } from '../store/memory/index.js';
import type { CarriedOut, SharedParts } from './carried-out.js';
import type { TemporalEnvironment, WorkflowSource } from './temporal/run-on-temporal.js';
import type { EvalCase } from './eval/index.js';
import { freeze } from './eval/freeze.js';
import { createTestClock } from './test-clock.js';
import { toTestRun, type TestRun } from './test-run.js';
import { withModels, type TestModels } from './with-models.js';

export interface TestRuntimeOptions {
  agents: readonly AgentDefinition[];
  /** Models in place of the agents' own, by agent; a list is a script, see `createScriptedModel`. */
  models?: TestModels;
  /** Passed to tools as `context.services`. */
  services?: Readonly<Record<string, unknown>>;
  /** A `TestWorkflowEnvironment` of `@temporalio/testing`: runs are workflows there. Default: none. */
  temporal?: TemporalEnvironment;
  /** Of the worker there, such as a bundle that has workflows of yours, too. Default: the package's. */
  workflows?: WorkflowSource;
}

/** Agents under test, with memory stores of their own. */
export interface TestRuntime {
  /** For what the methods below do not cover; `createApi` takes it as well. */
  readonly executor: AgentExecutor;
  readonly stores: MemoryStores;
  /** The agents with the models of the options; `createApi` wants them. */
  readonly agents: AgentRegistry;
  /** Begins a run of an agent, in a new session by default; resolves when it ends or waits. */
  run: (agent: string, input: AgentInput, options?: ExecuteOptions) => Promise<TestRun>;
  /** The conversation of a session, when it rests. @throws Error for an unknown session */
  session: (sessionId: string) => Promise<TestRun>;
  /** Freezes the conversation of a session as a case, for `evaluateCase`. */
  record: (sessionId: string, name?: string) => Promise<EvalCase>;
  /** Sets the clock of deadlines and retries forward. */
  advance: (ms: number) => Promise<void>;
  close: () => Promise<void>;
}

/**
 * Runs agents in a test: in this process without engines, or on a server of Temporal's test kit. Works
 * in every test runner.
 *
 * @example
 * import { createTestRuntime } from 'helix-temporal/testing';
 * import { defineAgent, defineTool } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * const refund = defineTool({
 *   name: 'refund',
 *   description: 'Pays back.',
 *   inputSchema: z.object({ amount: z.number() }),
 *   requireApproval: true,
 *   execute: ({ amount }) => ({ paid: amount }),
 * });
 * const desk = defineAgent({
 *   name: 'desk',
 *   systemPrompt: 'Help.',
 *   tools: [refund],
 *   llmConfig: { model: 'openai/gpt-5' },
 * });
 * const script = [{ calls: [{ tool: 'refund', args: { amount: 5 } }] }, { say: 'Done.' }];
 * const runtime = await createTestRuntime({ agents: [desk], models: { desk: script } });
 * const asked = await runtime.run('desk', 'My tea was cold.');
 * const done = await asked.expectPending('refund', { amount: 5 }).approve('refund');
 * await done.expectText('Done.').expectCalls([{ tool: 'refund', output: { paid: 5 } }]);
 * await runtime.close();
 */
export async function createTestRuntime({
  agents: given,
  models = {},
  services,
  temporal,
  workflows,
}: TestRuntimeOptions): Promise<TestRuntime> {
  const clock = createTestClock();
  const stores = createMemoryStores({ now: clock.now });
  const agents = new AgentRegistry(withModels(given, models));
  const shared = { agents, stores, services };
  const { executor, close, advance } =
    temporal === undefined
      ? runHere({ ...shared, clock })
      : await (
          await import('./temporal/run-on-temporal.js')
        ).runOnTemporal(temporal, { ...shared, clock, workflows });
  const deps = { executor, ...stores };

  return {
    executor,
    stores,
    agents,
    advance,
    close,
    record: (sessionId, name = sessionId) => freeze(deps, sessionId, name),
    run: async (agent, input, options) =>
      toTestRun(deps, await executor.execute(agent, input, options)),
    session: async (sessionId) => {
      const handle = await executor.getHandle(sessionId);
      if (handle === null) throw new Error(`there is no session "${sessionId}"`);
      return toTestRun(deps, handle);
    },
  };
}

function runHere({ clock, ...shared }: SharedParts): CarriedOut {
  const executor = createInProcessExecutor({ ...shared, clock });
  return {
    executor,
    close: executor.close,
    advance: (ms) => {
      clock.advance(ms);
      return Promise.resolve();
    },
  };
}
