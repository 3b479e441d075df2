import { ok } from 'node:assert/strict';
import { formatApprovalId, formatChildSessionId, rootOf } from '../../protocol/ids.js';
import type { ChildRef } from '../../protocol/run.js';
import type { NewCall } from '../contract/call-record.js';
import type { SettleCallResult } from '../contract/calls.js';
import type { BeginChildResult } from '../contract/runs.js';
import { AGENT, newCall, newNonce } from './fixtures.js';
import { drive, type SessionDriver } from './session-driver.js';
import type { Case } from './suite.js';

/** A sub-agent's call, and the run that carries it out. */
export function newSubAgent(
  sessionId: string,
  toolCallId: string,
): { call: NewCall; child: ChildRef } {
  const id = formatChildSessionId(rootOf(sessionId), 1, newNonce());
  const child = { sessionId: id, runId: `${id}:1-${newNonce()}`, agent: 'helper', maxSteps: 5 };
  return {
    call: newCall(toolCallId, 'subagent', { child: { ...child, message: `do ${toolCallId}` } }),
    child,
  };
}

/** A call whose question is deferred until the pause. */
export function heldCall(
  runId: string,
  toolCallId: string,
  kind: 'approval' | 'client' = 'approval',
  extra: Partial<NewCall> = {},
): NewCall {
  const toolName = `${kind}-tool`;
  const base = { agentId: rootOf(runId.slice(0, runId.lastIndexOf(':'))), agentType: AGENT };
  const input = { of: toolCallId };
  return newCall(toolCallId, kind, {
    ask: {
      ...base,
      step: 99,
      timestamp: 1,
      toolCallId,
      toolName,
      ...(kind === 'approval'
        ? {
            type: 'tool_approval_request' as const,
            approvalId: formatApprovalId(runId, toolCallId),
            input,
          }
        : { type: 'tool_start' as const, arguments: input }),
    },
    ...extra,
  });
}

export interface Tree {
  root: SessionDriver;
  runId: string;
  children: { driver: SessionDriver; ref: ChildRef; callId: string }[];
}

/** Starts a conversation whose first step has the sub-agents d1, d2, … and these calls of its own. */
export async function grow(
  setup: Pick<Case, 'store' | 'streamManager' | 'session'>,
  count: number,
  own: (runId: string) => NewCall[],
): Promise<Tree> {
  const { session } = setup;
  const { runId } = await session.newRun();
  const made = Array.from({ length: count }, (_, n) =>
    newSubAgent(session.id, `d${String(n + 1)}`),
  );
  await session.ask(runId, 1, [...made.map(({ call }) => call), ...own(runId)]);
  const children = await Promise.all(
    made.map(async ({ call, child }) => {
      await begin(setup, session, runId, call.toolCallId, child);
      return { driver: drive(setup, child.sessionId), ref: child, callId: call.toolCallId };
    }),
  );
  return { root: session, runId, children };
}

export function begin(
  { store }: Pick<Case, 'store'>,
  parent: SessionDriver,
  runId: string,
  toolCallId: string,
  child: ChildRef,
): Promise<BeginChildResult> {
  const above = { sessionId: parent.id, runId, toolCallId };
  return store.runs.beginChild({ child, parent: above, now: Date.now() });
}

export function settleChild(
  { store }: Pick<Case, 'store'>,
  parent: SessionDriver,
  runId: string,
  toolCallId: string,
): Promise<SettleCallResult> {
  return store.calls.settle({
    source: 'child',
    sessionId: parent.id,
    agentType: AGENT,
    toolCallId,
    runId,
    row: { role: 'tool', toolCallId, toolName: 'subagent-tool', output: 'done' },
    chunks: [],
    now: Date.now(),
  });
}

export function childAt(tree: Tree, at: number): Tree['children'][number] {
  const child = tree.children[at];
  ok(child !== undefined);
  return child;
}
