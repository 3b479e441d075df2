import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { LIMITS } from '../../protocol/limits.js';
import type { ApiClient } from '../api/client.js';
import { CliFailure } from '../failure.js';

export interface McpTool {
  name: string;
  description: string;
  input: z.ZodRawShape;
  isWrite: boolean;
  call: (api: ApiClient, input: never) => Promise<unknown>;
}

type Definition<S extends z.ZodRawShape> = [
  name: string,
  description: string,
  input: S,
  call: (api: ApiClient, input: z.infer<z.ZodObject<S>>) => Promise<unknown>,
];

function read<S extends z.ZodRawShape>(...definition: Definition<S>): McpTool {
  const [name, description, input, call] = definition;
  return { name, description, input, isWrite: false, call };
}

function write<S extends z.ZodRawShape>(...definition: Definition<S>): McpTool {
  return { ...read(...definition), isWrite: true };
}

const id = z.string().min(1);
const reason = z.string().optional().describe('Why, for the record');
const page = {
  limit: z.int().min(1).max(100).optional(),
  cursor: z.string().optional().describe('Cursor of the page before'),
};
const filter = {
  query: z.string().optional().describe("A list filter of Temporal: AgentStatus = 'failed'"),
  status: z.string().optional().describe('Such as running, waiting_approval, failed'),
  agent: z.string().optional(),
  since: z.string().optional().describe('Started since; ISO 8601'),
};
const shown = {
  sessionId: id,
  toolCallId: id,
  approvalId: id.describe('As list_waiting gives it'),
  inputHash: id.describe('As list_waiting gives it: says which input was read'),
};

const runPath = (runId: string, act = ''): string =>
  `/api/operator/runs/${encodeURIComponent(runId)}${act}`;
const callPath = (sessionId: string, toolCallId: string, act = ''): string =>
  `/api/operator/waiting/${encodeURIComponent(sessionId)}/${encodeURIComponent(toolCallId)}${act}`;

const READS: McpTool[] = [
  read('list_runs', 'Lists runs of agents, newest first.', { ...filter, ...page }, (api, query) =>
    api.get('/api/operator/runs', { query }),
  ),
  read(
    'count_runs',
    'Counts runs by status, agent or tenant.',
    { ...filter, groupBy: z.enum(['status', 'agent', 'tenant']).optional() },
    (api, query) => api.get('/api/operator/runs/count', { query }),
  ),
  read(
    'get_run',
    'Gets a run: its status, steps and tool calls, and what it waits for.',
    { runId: id },
    (api, { runId }) => api.get(runPath(runId)),
  ),
  read(
    'list_waiting',
    'Lists what waits for people, longest first, with the inputs of the calls.',
    { ...page, olderThan: z.int().optional().describe('ms') },
    (api, query) => api.get('/api/operator/waiting', { query }),
  ),
  read(
    'read_session',
    'Reads a conversation, oldest message first. The server records who has read it.',
    { sessionId: id, offset: z.int().optional(), limit: z.int().optional() },
    (api, { sessionId, ...query }) =>
      api.get(`/api/operator/sessions/${encodeURIComponent(sessionId)}`, { query }),
  ),
  read(
    'list_audit',
    'Lists entries of the audit trail, newest first.',
    {
      ...page,
      since: z.string().optional().describe('ISO 8601'),
      action: z.string().optional().describe('Such as approve, stop, read'),
      actor: z.string().optional(),
    },
    (api, query) => api.get('/api/operator/audit', { query }),
  ),
  read('verify_audit', 'Checks that the audit trail is as it was written.', {}, (api) =>
    api.get('/api/operator/audit/verify'),
  ),
  read('list_agents', 'Lists the agents that people may talk to.', {}, (api) =>
    api.get('/api/config'),
  ),
];

const RUN_ACTS = { stop: 'Stops a run.', resume: 'Continues a run.', retry: 'Repeats a turn.' };

const WRITES: McpTool[] = [
  write(
    'approve_call',
    'Approves a call that waits; its tool then runs, with another input if given.',
    { ...shown, input: z.unknown().optional(), reason },
    (api, { sessionId, toolCallId, ...body }) =>
      api.post(callPath(sessionId, toolCallId), { approved: true, ...body }),
  ),
  write(
    'deny_call',
    'Denies a call that waits; the agent gets the reason.',
    { ...shown, reason: z.string().min(1) },
    (api, { sessionId, toolCallId, ...body }) =>
      api.post(callPath(sessionId, toolCallId), { approved: false, ...body }),
  ),
  write(
    'extend_deadline',
    'Extends the deadline of a call that waits.',
    { ...shown, byMs: z.int().positive(), reason },
    (api, { sessionId, toolCallId, ...body }) =>
      api.post(callPath(sessionId, toolCallId, '/extend'), body),
  ),
  ...Object.entries(RUN_ACTS).map(([act, description]) =>
    write(`${act}_run`, description, { runId: id, reason }, (api, { runId, ...body }) =>
      api.post(runPath(runId, `/${act}`), body),
    ),
  ),
];

/** Returns the read tools, with the write tools if allowed. */
export function toolsFor({ allowWrites }: { allowWrites: boolean }): readonly McpTool[] {
  return allowWrites ? [...READS, ...WRITES] : READS;
}

/** Returns refusals and replies that are too large as results, so that the model can react. */
export async function callTool(
  api: ApiClient,
  tool: McpTool,
  given: unknown,
): Promise<CallToolResult> {
  try {
    const text = JSON.stringify(await tool.call(api, given as never));
    // Clients close the connection at a message of 10 MB, and there the text is quoted.
    if (Buffer.byteLength(text) <= LIMITS.mcpMessageBytes) return toResult(text);
    return toResult(
      'The reply is too large: ask for less, with a limit if the tool takes one.',
      true,
    );
  } catch (error) {
    if (error instanceof CliFailure) return toResult(error.message, true);
    throw error;
  }
}

function toResult(text: string, isError = false): CallToolResult {
  return { content: [{ type: 'text', text }], isError };
}
