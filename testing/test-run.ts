import { AssertionError } from 'node:assert';
import type { AgentExecutor } from '../runs/executor.js';
import type { Approval, ClientToolOutcome, RunHandle } from '../runs/run-handle.js';
import type { AgentResult } from '../runs/run-result.js';
import type { PendingQuestion } from '../protocol/replies.js';
import type { ShownCall } from '../protocol/shown-call.js';
import type { Store } from '../store/contract/store.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import { isMatcher, matches, type Expected } from './matches.js';
import { toSeenCalls, type SeenCall } from './seen-calls.js';

/** An expected call: its tool, and the fields that must match. */
export type ExpectedCall =
  | string
  | { tool: string; input?: Expected; output?: Expected; error?: Expected; approved?: boolean };

/**
 * A conversation at rest: its newest run has ended or waits for people. Assertions throw an
 * `AssertionError`, which every test runner shows.
 */
export interface TestRun {
  readonly sessionId: string;
  readonly handle: RunHandle;
  readonly status: AgentResult['status'];
  /** Text of the newest step. */
  readonly text: string;
  readonly result: AgentResult;
  /** Pending questions. */
  readonly pending: readonly PendingQuestion[];
  /** Begins the next turn; resolves when it rests. */
  send: (text: string) => Promise<TestRun>;
  /** Approves a pending call by its tool's name or its id; resolves at the next rest. */
  approve: (call: string, approval?: Approval) => Promise<TestRun>;
  deny: (call: string, denial?: Omit<Approval, 'input'>) => Promise<TestRun>;
  /** Answers a client tool's call. */
  answer: (call: string, outcome: ClientToolOutcome) => Promise<TestRun>;
  stop: () => Promise<TestRun>;
  /** Waits for the next rest without answering, for example after advancing the clock. */
  next: () => Promise<TestRun>;
  /** Returns the conversation with its newest run, once that rests. */
  current: () => Promise<TestRun>;
  /** Returns all calls of the conversation, without those of sub-agents. */
  calls: () => Promise<SeenCall[]>;
  /** Returns the agent's state. */
  state: () => Promise<unknown>;
  expectStatus: (status: AgentResult['status']) => TestRun;
  expectText: (text: string | RegExp) => TestRun;
  /** Expects a pending call of this tool with this input. */
  expectPending: (tool: string, input?: Expected) => TestRun;
  /** Expects exactly these calls of the conversation, in order. */
  expectCalls: (calls: readonly ExpectedCall[]) => Promise<void>;
  expectState: (state: Expected) => Promise<void>;
  /** Expects the result of an agent with an output schema. */
  expectOutput: (output: Expected) => TestRun;
}

export interface TestRunDeps {
  executor: AgentExecutor;
  store: Store;
  streamManager: Pick<StreamManager, 'follow'>;
}

/** Waits until the run rests. */
export async function toTestRun(deps: TestRunDeps, handle: RunHandle): Promise<TestRun> {
  const { executor, store, streamManager } = deps;
  const { sessionId } = handle;
  const result = await handle.result();
  const { sequence = 0 } = (await store.sessions.read(sessionId)) ?? {};
  const pending = 'pending' in result ? result.pending : [];
  const rest = (next: RunHandle = handle): Promise<TestRun> => toTestRun(deps, next);

  /** Finds the pending call by tool name or id. */
  function find(call: string): [toolCallId: string, shown: ShownCall] {
    const found = pending.filter(
      ({ toolCallId, toolName }) => toolCallId === call || toolName === call,
    );
    const [question] = found;
    check(found.length === 1, `one pending call "${call}"`, describe(pending));
    const { toolCallId = '', approvalId, inputHash } = question ?? {};
    return [toolCallId, { approvalId, inputHash }];
  }

  const run: TestRun = {
    sessionId,
    handle,
    result,
    pending,
    status: result.status,
    text: result.text,
    send: async (text) => {
      const record = await store.sessions.read(sessionId);
      const { agent = '', owner: userId, tenant: tenantId } = record ?? {};
      return rest(await executor.execute(agent, text, { sessionId, userId, tenantId }));
    },
    approve: async (call, approval) => {
      const [id, shown] = find(call);
      await handle.approve(id, { ...shown, ...approval });
      return rest();
    },
    deny: async (call, denial) => {
      const [id, shown] = find(call);
      await handle.deny(id, { ...shown, ...denial });
      return rest();
    },
    answer: async (call, outcome) => {
      const [id, shown] = find(call);
      await handle.answer(id, { ...shown, ...outcome });
      return rest();
    },
    stop: async () => {
      await handle.interrupt();
      return rest();
    },
    next: async () => {
      const over = new AbortController();
      for await (const entries of streamManager.follow(sessionId, sequence, over.signal)) {
        if (entries.length > 0) break;
      }
      over.abort();
      return rest((await executor.getHandle(sessionId)) ?? handle);
    },
    current: async () => rest((await executor.getHandle(sessionId)) ?? handle),
    calls: async () => toSeenCalls(await store.sessions.rows(sessionId, 0)),
    state: async () => (await store.documents.load(sessionId))?.customState,
    expectStatus: (status) => {
      const { error } = result.status === 'failed' ? result : {};
      check(result.status === status, `status ${status}`, error ?? result.status);
      return run;
    },
    expectText: (text) => {
      check(matches(result.text, text), `text ${String(text)}`, result.text);
      return run;
    },
    expectPending: (tool, input) => {
      const isIt = (each: PendingQuestion): boolean =>
        each.toolName === tool && (input === undefined || matches(each.input, input));
      check(pending.some(isIt), `a pending call of ${tool}`, describe(pending), input);
      return run;
    },
    expectCalls: async (expected) => {
      const calls = await run.calls();
      const isAsExpected =
        calls.length === expected.length && expected.every((each, at) => isCall(calls[at], each));
      check(isAsExpected, 'these calls', calls, expected);
    },
    expectState: async (expected) => {
      const state = await run.state();
      check(matches(state, expected), 'this state', state, expected);
    },
    expectOutput: (expected) => {
      const output = result.status === 'completed' ? result.output : undefined;
      check(matches(output, expected), 'this output', output, expected);
      return run;
    },
  };
  return run;
}

function isCall(actual: SeenCall | undefined, expected: ExpectedCall): boolean {
  if (actual === undefined) return false;
  if (typeof expected === 'string') return actual.tool === expected;
  const { tool, approved, ...rest } = expected;
  if (actual.tool !== tool) return false;
  if (approved !== undefined && actual.decision?.approved !== approved) return false;
  return matches(actual, rest);
}

function describe(pending: readonly PendingQuestion[]): unknown {
  return pending.map(({ toolName, toolCallId, input }) => ({ toolName, toolCallId, input }));
}

function check(isTrue: boolean, what: string, actual: unknown, expected?: unknown): void {
  if (isTrue) return;
  const shown = expected === undefined ? '' : ` ${toText(expected)}`;
  const message = `expected ${what}${shown}, and got ${toText(actual)}`;
  throw new AssertionError({ message, actual, expected, operator: 'expect' });
}

function toText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (isMatcher(each)) return each.toAsymmetricMatcher?.() ?? 'a matcher';
    return each instanceof RegExp || typeof each === 'function' ? String(each) : each;
  });
}
