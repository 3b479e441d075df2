import { setTimeout as sleep } from 'node:timers/promises';
import type { Info } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { Lease } from '../../activities/lease.js';
import type { SlotLimits } from '../../protocol/fair-slots.js';
import type {
  CallActivityRef,
  LegOutcome,
  LegRef,
  StepRef,
  ToolCallOutcome,
  ExecuteToolWork,
} from '../../protocol/temporal.js';
import type { ActivityDeps, MadeFiles } from '../../activities/deps.js';
import { asActivity } from '../../activities/as-activity.js';
import { createActivities } from '../../activities/index.js';
import { createRunOperations } from '../../activities/run-operations.js';
import {
  AgentRegistry,
  type AgentScope,
  defineAgent,
  type AgentConfig,
  type LlmSettings,
  type ToolDefinition,
  type ToolHost,
} from '../../agents/index.js';
import type { z } from 'zod';
import type { At, StepOutcome } from '../../protocol/run.js';
import type { Row, UserPart } from '../../protocol/rows.js';
import type { RunRecord } from '../../store/contract/runs.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { AGENT, drive, type SessionDriver } from './session-driver.js';
import { fakeModel, type Script } from './fake-model.js';
import { openTestStores, type TestStores } from './test-stores.js';

export interface AgentUnderTest {
  /** Name of the agent that this worker knows; default: the one that the session asks for. */
  name?: string;
  model: LlmSettings['model'];
  tools?: readonly ToolDefinition[];
  systemPrompt?: string;
  toolSlots?: SlotLimits;
  lease?: Lease;
  toolWork?: ExecuteToolWork;
  unansweredMs?: () => number;
  /** Host of its tool sources; default: one that is never closed. */
  toolHost?: ToolHost;
  uploads?: MadeFiles;
  extensions?: ActivityDeps['extensions'];
  meter?: ActivityDeps['meter'];
  /** Called with the scope that the agent's factory gets; if set, a factory creates the agent. */
  onScope?: (scope: AgentScope) => void;
  more?: Partial<Omit<AgentConfig<z.ZodType, z.ZodType>, 'llmConfig'>> & {
    llmConfig?: Partial<LlmSettings>;
  };
}

/** Name under which the workflow knows the tool, and the age of its request. */
export interface CallMore {
  toolName?: string;
  ageMs?: number;
  isLeased?: true;
  replaces?: CallActivityRef['replaces'];
  /** For cancelling the attempt; default: a new one. */
  environment?: MockActivityEnvironment;
}

/** The real activities over a real store, run as a worker would run them. */
export interface ActivityHarness {
  stores: TestStores;
  session: SessionDriver;
  /** Reads the stored rows from an index on. */
  rows: (from: number, to?: number) => Promise<Row[]>;
  record: () => Promise<SessionRecord | undefined>;
  begin: (...content: UserPart[]) => Promise<RunRecord>;
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
    more?: CallMore,
  ) => Promise<ToolCallOutcome['kind']>;
  /** Like `step`, but returns the whole outcome that the workflow gets. */
  outcome: (
    run: RunRecord,
    step: number,
    toolCallId: string,
    attempt?: number,
    more?: CallMore,
  ) => Promise<ToolCallOutcome>;
  /** State of the record that the newest call told the workflow. */
  told: () => At | undefined;
  /** Runs steps and server tools until the run ends or waits, as activities or in one leg. */
  play: (run: RunRecord, fromStep?: number) => Promise<StepOutcome>;
}

/** An activity environment of one attempt; later attempts are scheduled later. */
export function attemptOf(attempt: number, more: Partial<Info> = {}): MockActivityEnvironment {
  return new MockActivityEnvironment({
    attempt,
    scheduledTimestampMs: Date.now(),
    currentAttemptScheduledTimestampMs: 1_700_000_000_000 + attempt * 1_000,
    startToCloseTimeoutMs: 30 * 60 * 1000,
    ...more,
  });
}

/** Opens a harness over its own stores, with a model that streams what the script returns. */
export async function openHarness(
  script: Script,
  agent: Omit<AgentUnderTest, 'model'> = {},
): Promise<ActivityHarness & { model: ReturnType<typeof fakeModel> }> {
  const model = fakeModel(script);
  return { ...createHarness(await openTestStores(), { model, ...agent }), model };
}

/** @param session session of another harness whose worker has another build */
export function createHarness(
  stores: TestStores,
  agent: AgentUnderTest,
  session: SessionDriver = drive(stores),
): ActivityHarness {
  const definition = defineAgent({
    name: agent.name ?? AGENT,
    systemPrompt: agent.systemPrompt ?? 'Be brief.',
    tools: agent.tools ?? [],
    ...agent.more,
    llmConfig: { model: agent.model, ...agent.more?.llmConfig },
  });
  const agents = new AgentRegistry(agent.onScope ? [] : [definition]);
  if (agent.onScope !== undefined) {
    agents.registerFactory(definition.name, (scope) => {
      agent.onScope?.(scope);
      return definition;
    });
  }
  const deps: ActivityDeps = {
    store: stores.store,
    streamManager: stores.streamManager,
    agents,
    services: {},
    startNext: () => Promise.resolve(),
    ...(agent.toolSlots !== undefined && { toolSlots: agent.toolSlots }),
    lease: agent.lease,
    toolWork: agent.toolWork,
    uploads: agent.uploads,
    ...(agent.extensions !== undefined && { extensions: agent.extensions }),
    ...(agent.toolHost !== undefined && { toolHost: agent.toolHost }),
    unansweredMs: agent.unansweredMs,
    ...(agent.meter !== undefined && { meter: agent.meter }),
    logger: { info: () => undefined, warn: () => undefined },
  };
  const activities = createActivities(deps);
  // The workflow learns this from the record; the operations tell it to tests.
  const operations = createRunOperations(deps);
  const modelStep = asActivity(
    deps,
    ({ step }: StepRef) => ({ step, sequence: 0, failures: 0 }),
    async (...work) => {
      const { at: _at, ...outcome } = await operations.modelStep(...work);
      return outcome;
    },
  );
  let told: At | undefined;
  const toolCall = asActivity(
    deps,
    ({ toolCallId }: CallActivityRef) => ({ toolCallId }),
    async (called: CallActivityRef, attempt) => {
      const { at, ...outcome } = await operations.toolCall(called, attempt);
      told = at;
      return outcome;
    },
  );
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

  /** Plays one leg and returns its outcome as if it were the newest step's. */
  async function playLeg(run: RunRecord, step: number): Promise<StepOutcome> {
    const input: LegRef = {
      ...ref(run, step),
      hasOutput: definition.outputSchema !== undefined,
      ...(agent.lease !== undefined && { isLeased: true }),
      at: { version: 0, sequence: 0, next: { do: 'model', step } },
    };
    const leg = activities.leg as (ref: LegRef) => Promise<LegOutcome>;
    const { at, spent } = await runAttempt(attemptOf(1), leg, input);
    const { error } = at.next.do === 'done' ? at.next : {};
    const view = await stores.store.sessions.view(session.id);
    const calls = (view?.openCalls ?? []).map(({ spec }) => spec);
    const { status } = view?.record ?? {};
    const outcome = { step: at.next.step, spent, status, ...(error !== undefined && { error }) };
    const kind = calls.length > 0 ? 'calls' : 'ended';
    return { ...outcome, kind, calls } as unknown as StepOutcome;
  }

  const harness: ActivityHarness = {
    stores,
    session,
    rows: (from, to) => stores.store.sessions.rows(session.id, from, to),
    record: () => stores.store.sessions.read(session.id),
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
      runAttempt(environment, modelStep as (ref: StepRef) => Promise<StepOutcome>, {
        ...ref(run, step),
        ...more,
      }),
    outcome: async (
      run,
      step,
      toolCallId,
      attempt = 1,
      { toolName, isLeased, replaces, ageMs = 0, ...more } = {},
    ) => {
      const { environment = attemptOf(attempt, { scheduledTimestampMs: Date.now() - ageMs }) } =
        more;
      const found = await stores.store.calls.read(session.id, toolCallId);
      const call = {
        ...ref(run, step),
        toolCallId,
        isLeased,
        replaces,
        toolName: toolName ?? found?.spec.toolName ?? 'unknown',
      };
      return runAttempt(
        environment,
        toolCall as (ref: CallActivityRef) => Promise<ToolCallOutcome>,
        call,
      );
    },
    told: () => told,
    tool: async (...call) => (await harness.outcome(...call)).kind,
    play: async (run, fromStep = 1) => {
      if (definition.activities === 'leg') return playLeg(run, fromStep);
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

/** Time that an attempt is given to end after it was cancelled, ms. */
const LEAVES_WITHIN_MS = 200;

/** Runs an attempt that a test may abandon, as a lost worker does. It is cancelled after the file's tests. */
function runAttempt<Ref, T>(
  environment: MockActivityEnvironment,
  activity: (ref: Ref) => Promise<T>,
  ref: Ref,
): Promise<T> {
  const attempt = environment.run<[Ref], T, typeof activity>(activity, ref);
  const ended = attempt.catch(() => undefined);
  atEndOfFile(async () => {
    environment.cancel();
    // The stores, which close next, would otherwise refuse its last writes for minutes.
    await Promise.race([ended, sleep(LEAVES_WITHIN_MS)]);
  });
  return attempt;
}
