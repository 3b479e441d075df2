import type { ChunkOf, StreamChunk } from '../../protocol/chunk.js';
import { formatApprovalId, formatModelWriter } from '../../protocol/ids.js';
import type { AssistantRow, ToolRow } from '../../protocol/rows.js';
import type { NewCall, UserMessage, Writer } from './driver.js';
import { NEW_SUB_AGENT } from './layout.js';

/** A session on its way through a turn; what the store says of it, as far as inputs need it. */
export interface Scene {
  sessionId: string;
  runId: string;
  messageId: string;
  /** The newest committed step. */
  step: number;
  /** Until when people may answer its first call. */
  deadline?: number;
}

/** How most transitions name the run that they are about. */
export function refOf({ sessionId, runId }: Scene): {
  sessionId: string;
  runId: string;
  now: number;
} {
  return { sessionId, runId, now: Date.now() };
}

export const AGENT = 'lab';
export const OWNER = 'anonymous';

export const DAY_MS = 24 * 60 * 60 * 1000;

export function messageOf(
  id: string,
  text = 'What does the order of last week come to?',
): UserMessage {
  const parts = [{ type: 'text' as const, text }];
  return { id, hash: `hash of ${text}`, row: { role: 'user', id, parts }, hidden: false };
}

/** Who carries out the next step. */
export function modelOf({ sessionId, runId, step }: Scene, token = 1): Writer {
  const name = formatModelWriter(sessionId, step + 1);
  return { sessionId, runId, name, token, agentType: AGENT, step: step + 1 };
}

/** Who carries out a call of the newest step. */
export function toolOf(scene: Scene, n: number, token = 1): Writer {
  const { sessionId, runId, step } = scene;
  return { sessionId, runId, name: `t:${callId(scene, n)}`, token, agentType: AGENT, step };
}

/** Id of the n-th call of the newest step: of no other call of the session. */
export function callId({ runId, step }: Pick<Scene, 'runId' | 'step'>, n: number): string {
  return `call-${runId.split('-').at(-1) ?? ''}-${String(step)}-${String(n)}`;
}

type Base = Pick<StreamChunk, 'agentId' | 'agentType' | 'step' | 'timestamp'>;

function baseOf({ sessionId: agentId, agentType, step }: Writer): Base {
  return { agentId, agentType, step, timestamp: Date.now() };
}

export function delta(writer: Writer): ChunkOf<'text_delta'> {
  return { type: 'text_delta', ...baseOf(writer), delta: 'forty-two ' };
}

export function stepEnd(writer: Writer): ChunkOf<'step_end'> {
  const usage = { inputTokens: 1_200, outputTokens: 80 };
  return { type: 'step_end', ...baseOf(writer), stepId: `s${String(writer.step)}`, usage };
}

export function toolEnd(writer: Writer, row: ToolRow): ChunkOf<'tool_end'> {
  const { toolCallId, toolName, output: result } = row;
  return { type: 'tool_end', ...baseOf(writer), toolCallId, toolName, result };
}

export function approvalResponse(scene: Scene): ChunkOf<'tool_approval_response'> {
  const toolCallId = callId(scene, 1);
  const approvalId = formatApprovalId(scene.runId, toolCallId);
  const call = { toolCallId, toolName: 'lookup', approvalId };
  return { type: 'tool_approval_response', ...baseOf(toolOf(scene, 1)), ...call, approved: true };
}

export function resultRow(toolCallId: string): ToolRow {
  return { role: 'tool', toolCallId, toolName: 'lookup', output: { total: 42, currency: 'EUR' } };
}

export function replyRow(
  { messageId, runId }: Scene,
  step: number,
  calls: NewCall[],
): AssistantRow {
  const text = { type: 'text' as const, text: 'I look that up for you. '.repeat(4) };
  const asked = calls.map(({ toolCallId, toolName, kind, input }) => ({
    ...{ type: 'tool-call' as const, toolCallId, toolName, kind, input },
  }));
  return { role: 'assistant', messageId, runId, step, parts: [text, ...asked] };
}

const INPUT = { order: 'A-1042', fields: ['total', 'currency'] };

/** A call of the step after the newest committed one. */
export function newCall(
  scene: Scene,
  n: number,
  kind: NewCall['kind'],
  more: Partial<NewCall> = {},
): NewCall {
  const step = scene.step + 1;
  const toolCallId = callId({ runId: scene.runId, step }, n);
  return { toolCallId, toolName: 'lookup', kind, input: INPUT, ...more };
}

/** A call that waits for a person; its chunk is written when the run pauses. */
export function question(scene: Scene, kind: 'approval' | 'client'): NewCall {
  const call = newCall(scene, 1, kind, { deadlineMs: DAY_MS });
  const shown = { ...baseOf(modelOf(scene)), toolCallId: call.toolCallId, toolName: call.toolName };
  const approvalId = formatApprovalId(scene.runId, call.toolCallId);
  const ask: StreamChunk =
    kind === 'approval'
      ? { type: 'tool_approval_request', ...shown, approvalId, input: INPUT }
      : { type: 'tool_start', ...shown, arguments: INPUT };
  return { ...call, ask };
}

/** The session that carries out a call of kind `subagent`. */
export function subAgentOf(
  { sessionId }: Pick<Scene, 'sessionId'>,
  n: number = NEW_SUB_AGENT,
): NonNullable<NewCall['child']> {
  const id = `${sessionId}.${String(n)}-sub`;
  const message = 'Find out what the order costs.';
  return { sessionId: id, runId: `${id}:1-sub`, agent: AGENT, maxSteps: 5, message };
}
