import { AgentRegistry, type AgentDefinition } from '../agents/index.js';
import type { AgentExecutor, ExecuteOptions } from '../runs/executor.js';
import type { AgentInput } from '../runs/agent-input.js';
import { createInProcessExecutor } from '../extensions/one-process/create-executor.js';
import { createMemoryStores, type MemoryStores } from '../store/memory/index.js';
import type { CarriedOut, SharedSetup } from './carried-out.js';
import type { TemporalEnvironment, WorkflowSource } from './temporal/run-on-temporal.js';
import type { EvalCase } from './eval/index.js';
import { freeze } from './eval/freeze.js';
import { createTestClock } from './test-clock.js';
import { toTestRun, type TestRun } from './test-run.js';
import { withModels, type TestModels } from './with-models.js';

export interface TestRuntimeOptions {
  agents: readonly AgentDefinition[];
  /** Replacement models by agent; a list is a script, see `createScriptedModel`. */
  models?: TestModels;
  /** Passed to tools as `context.services`. */
  services?: Readonly<Record<string, unknown>>;
  /** A `TestWorkflowEnvironment` of `@temporalio/testing` that runs the workflows. Default: none. */
  temporal?: TemporalEnvironment;
  /** Workflows of its worker, for example a bundle with your own ones. Default: the package's. */
  workflows?: WorkflowSource;
}

/** Runtime of agents under test, with its own memory stores. */
export interface TestRuntime {
  /** Executor for everything that the methods below do not cover; `createApi` accepts it too. */
  readonly executor: AgentExecutor;
  readonly stores: MemoryStores;
  /** Agents with the replacement models, for `createApi`. */
  readonly agents: AgentRegistry;
  /** Begins a run, in a new session by default; resolves when the run ends or waits. */
  run: (agent: string, input: AgentInput, options?: ExecuteOptions) => Promise<TestRun>;
  /** Returns the conversation of a session once it rests. @throws Error for an unknown session */
  session: (sessionId: string) => Promise<TestRun>;
  /** Freezes the conversation of a session as a case, for `evaluateCase`. */
  record: (sessionId: string, name?: string) => Promise<EvalCase>;
  /** Advances the clock of deadlines and retries. */
  advance: (ms: number) => Promise<void>;
  close: () => Promise<void>;
}

/**
 * Creates a runtime for testing agents: in this process without engines, or on a server of Temporal's test
 * kit. It works in every test runner.
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

function runHere({ clock, ...shared }: SharedSetup): CarriedOut {
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
