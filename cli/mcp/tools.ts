import { z } from 'zod';
import type { ApiClient } from '../api/client.js';

/** An API route as an MCP tool. */
export interface McpTool {
  name: string;
  description: string;
  input: z.ZodObject;
  /** True if the tool changes something. */
  isWrite: boolean;
  call: (api: ApiClient, input: never) => Promise<unknown>;
}

/** Defines a tool whose call gets the output of its schema. */
function defineMcpTool<S extends z.ZodObject>(
  tool: Omit<McpTool, 'input' | 'isWrite' | 'call'> & {
    input: S;
    call: (api: ApiClient, input: z.infer<S>) => Promise<unknown>;
  },
  { isWrite = false } = {},
): McpTool {
  return { ...tool, isWrite };
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

const runPath = (runId: string, act = ''): string =>
  `/api/operator/runs/${encodeURIComponent(runId)}${act}`;
const sessionPath = (sessionId: string): string =>
  `/api/operator/sessions/${encodeURIComponent(sessionId)}`;
const callPath = ({ sessionId, toolCallId }: Call, act = ''): string =>
  `/api/operator/waiting/${encodeURIComponent(sessionId)}/${encodeURIComponent(toolCallId)}${act}`;

const shown = {
  sessionId: id,
  toolCallId: id,
  approvalId: id.describe('As list_waiting gives it'),
  inputHash: id.describe('As list_waiting gives it: says which input was read'),
};
interface Call {
  sessionId: string;
  toolCallId: string;
}

const READS: McpTool[] = [
  defineMcpTool({
    name: 'list_runs',
    description: 'Lists runs of agents, newest first.',
    input: z.object({ ...filter, ...page }),
    call: (api, query) => api.get('/api/operator/runs', { query }),
  }),
  defineMcpTool({
    name: 'count_runs',
    description: 'Counts runs by status, agent or tenant.',
    input: z.object({ ...filter, groupBy: z.enum(['status', 'agent', 'tenant']).optional() }),
    call: (api, query) => api.get('/api/operator/runs/count', { query }),
  }),
  defineMcpTool({
    name: 'get_run',
    description: 'Gets a run: its status, steps and tool calls, and what it waits for.',
    input: z.object({ runId: id }),
    call: (api, { runId }) => api.get(runPath(runId)),
  }),
  defineMcpTool({
    name: 'list_waiting',
    description: 'Lists what waits for people, longest first, with the inputs of the calls.',
    input: z.object({ ...page, olderThan: z.int().optional().describe('ms') }),
    call: (api, query) => api.get('/api/operator/waiting', { query }),
  }),
  defineMcpTool({
    name: 'read_session',
    description: 'Reads a conversation, oldest message first. The server records who has read it.',
    input: z.object({ sessionId: id, offset: z.int().optional(), limit: z.int().optional() }),
    call: (api, { sessionId, ...query }) => api.get(sessionPath(sessionId), { query }),
  }),
  defineMcpTool({
    name: 'list_audit',
    description: 'Lists entries of the audit trail, newest first.',
    input: z.object({
      ...page,
      since: z.string().optional().describe('ISO 8601'),
      action: z.string().optional().describe('Such as approve, stop, read'),
      actor: z.string().optional(),
    }),
    call: (api, query) => api.get('/api/operator/audit', { query }),
  }),
  defineMcpTool({
    name: 'verify_audit',
    description: 'Checks that the audit trail is as it was written.',
    input: z.object({}),
    call: (api) => api.get('/api/operator/audit/verify'),
  }),
  defineMcpTool({
    name: 'list_agents',
    description: 'Lists the agents that people may talk to.',
    input: z.object({}),
    call: (api) => api.get('/api/config'),
  }),
];

const WRITES: McpTool[] = [
  defineMcpTool(
    {
      name: 'approve_call',
      description: 'Approves a call that waits; its tool then runs, with another input if given.',
      input: z.object({ ...shown, input: z.unknown().optional(), reason }),
      call: (api, { sessionId, toolCallId, ...body }) =>
        api.post(callPath({ sessionId, toolCallId }), { approved: true, ...body }),
    },
    { isWrite: true },
  ),
  defineMcpTool(
    {
      name: 'deny_call',
      description: 'Denies a call that waits; the agent gets the reason.',
      input: z.object({ ...shown, reason: z.string().min(1) }),
      call: (api, { sessionId, toolCallId, ...body }) =>
        api.post(callPath({ sessionId, toolCallId }), { approved: false, ...body }),
    },
    { isWrite: true },
  ),
  defineMcpTool(
    {
      name: 'extend_deadline',
      description: 'Extends the deadline of a call that waits.',
      input: z.object({ ...shown, byMs: z.int().positive(), reason }),
      call: (api, { sessionId, toolCallId, ...body }) =>
        api.post(callPath({ sessionId, toolCallId }, '/extend'), body),
    },
    { isWrite: true },
  ),
  ...(['stop', 'resume', 'retry'] as const).map((act) =>
    defineMcpTool(
      {
        name: `${act}_run`,
        description: { stop: 'Stops a run.', resume: 'Continues a run.', retry: 'Repeats a turn.' }[
          act
        ],
        input: z.object({ runId: id, reason }),
        call: (api, { runId, reason }) => api.post(runPath(runId, `/${act}`), { reason }),
      },
      { isWrite: true },
    ),
  ),
];

/** Returns the read tools, with the write tools if allowed. */
export function toolsFor({ allowWrites }: { allowWrites: boolean }): readonly McpTool[] {
  return allowWrites ? [...READS, ...WRITES] : READS;
}
