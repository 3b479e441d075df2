import { jsonSchema } from 'ai';
import { z } from 'zod';
import {
  assertSettings,
  type SourcedTool,
  type ToModelOutput,
  type ToolHost,
  type ToolSource,
} from '../../agents/index.js';
import { CALL_MS, connectionsOf, type McpAnswer, type McpConnections } from './connection.js';
import { McpError } from './errors.js';
import {
  permissionOf,
  PinnedTools,
  toPinnedTools,
  withinBounds,
  type PinnedTool,
} from './pinned-tools.js';
import { ServersByName, type McpServer, type McpServers } from './servers.js';

export type {
  HttpMcpServer,
  McpAuthProvider,
  McpHeaders,
  McpServer,
  McpServers,
  StdioMcpServer,
} from './servers.js';

/**
 * Creates the source of tools that `defineAgent({ mcpServers })` adds, for `fromAgent`. Needs the package
 * `@modelcontextprotocol/sdk`.
 *
 * @example
 * import { openai } from '@ai-sdk/openai';
 * import { ToolLoopAgent } from 'ai';
 * import { fromAgent } from 'helix-temporal';
 * import { mcpServers } from 'helix-temporal/mcp';
 *
 * export const librarian = fromAgent(new ToolLoopAgent({ model: openai('gpt-5') }), {
 *   name: 'librarian',
 *   toolSources: [mcpServers({ docs: { url: 'https://docs.example/mcp' } })],
 * });
 *
 * @throws DefinitionError that names each wrong setting
 */
export function mcpServers(servers: McpServers): ToolSource {
  assertSettings(ServersByName, servers, { call: 'mcpServers' });
  const named = new Map(Object.entries(servers));
  return Object.freeze({
    name: 'mcp',
    list: (taken, host, signal) => listTools(servers, taken, host, signal),
    toTools: (listed, host) => {
      const connections = connectionsOf(host);
      return PinnedTools.parse(listed).flatMap((each) => {
        // A newer release of the agent may no longer name the server.
        const server = named.get(each.server);
        return (server && toTool(each, server, connections)) ?? [];
      });
    },
    owns: (tool) => [...named.keys()].some((server) => tool.startsWith(`${server}_`)),
    toModelOutput: toMcpModelOutput,
  } satisfies ToolSource);
}

/** Lists the tools of all servers, in the order of the servers. An `optional` server may be unreachable. */
async function listTools(
  servers: McpServers,
  taken: ReadonlySet<string>,
  host: ToolHost,
  signal: AbortSignal,
): Promise<PinnedTool[]> {
  const { logger } = host;
  const lists = await Promise.all(
    Object.entries(servers).map(async ([name, server]) => {
      try {
        const listed = await connectionsOf(host).to(name, server).listTools(signal);
        return toPinnedTools(name, server, listed, taken, logger);
      } catch (error) {
        signal.throwIfAborted();
        if (server.optional !== true || !(error instanceof McpError)) throw error;
        logger.warn({ server: name, code: error.code }, 'a run begins without these tools');
        return [];
      }
    }),
  );
  return withinBounds(lists.flat(), logger);
}

const ERROR_CHARS = 2_000;

/** The server validates its inputs; workers do not execute schemas of foreign servers. */
const AnyInput = z.looseObject({});

/** Converts a pinned tool into a tool of this runtime; undefined if the agent no longer permits it. */
function toTool(
  pinned: PinnedTool,
  server: McpServer,
  connections: McpConnections,
): SourcedTool | undefined {
  const { tool, name, description, inputSchema } = pinned;
  const permission = permissionOf(server, tool, pinned.isReadOnly);
  if (permission === 'never') return undefined;
  // If every call needs approval, the server's own annotation does not make the tool repeatable.
  const isHeld = permissionOf(server, tool, true) !== 'ask' && pinned.isIdempotent;
  const isRepeatable = isHeld || server.idempotent?.includes(tool) === true;
  const { approvers, separateApprover, deadlineMs, callTimeoutMs = CALL_MS } = server;
  return Object.freeze({
    name,
    description,
    inputSchema: AnyInput,
    forModel: { inputSchema: jsonSchema(inputSchema) },
    isDynamic: true,
    ...(permission === 'ask' && { requireApproval: true, approvers, separateApprover, deadlineMs }),
    idempotent: isRepeatable,
    timeoutMs: callTimeoutMs,
    toModelOutput: toMcpModelOutput,
    execute: async (input, { idempotencyKey: key, abortSignal: signal }) => {
      const connection = connections.to(pinned.server, server);
      const answer = await connection.call({ tool, input, key, signal, isRepeatable });
      if (answer.isError === true) throw reported(connection.redact(toText(answer)));
      const { content, structuredContent } = answer;
      return { content, ...(structuredContent !== undefined && { structuredContent }) };
    },
  } satisfies SourcedTool as SourcedTool);
}

function reported(text: string): McpError {
  const shown = text.slice(0, ERROR_CHARS).toWellFormed();
  return new McpError('mcp_tool_error', shown === '' ? 'The tool reports an error.' : shown);
}

function toText({ content }: McpAnswer): string {
  return content
    .map(toContent)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n');
}

/** Converts a call's result for the model: text parts as text, images as images. */
const toMcpModelOutput: ToModelOutput = ({ output }) => {
  const { content = [], structuredContent } = (output ?? {}) as {
    content?: unknown[];
    structuredContent?: unknown;
  };
  const value = content.map(toContent);
  const [first] = value;
  if (first === undefined) {
    return structuredContent === undefined
      ? { type: 'text', value: '' }
      : { type: 'json', value: structuredContent as never };
  }
  if (value.length === 1 && first.type === 'text') return { type: 'text', value: first.text };
  return { type: 'content', value };
};

type ModelContent =
  | { type: 'text'; text: string }
  | { type: 'file'; mediaType: string; data: { type: 'data'; data: string } };

const Data = { data: z.string(), mimeType: z.string() };
const Part = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.enum(['image', 'audio']), ...Data }),
  z.looseObject({
    type: z.literal('resource'),
    resource: z.union([
      z.object({ text: z.string() }),
      z.object({ blob: z.string(), mimeType: z.string().optional() }),
    ]),
  }),
  z.looseObject({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string().optional(),
  }),
]);
const OTHER: ModelContent = { type: 'text', text: '[content that cannot be shown]' };
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Converts one part of a result; a part that the protocol does not know becomes a remark. Pure. */
function toContent(part: unknown): ModelContent {
  const { data } = Part.safeParse(part);
  switch (data?.type) {
    case undefined:
      return OTHER;
    case 'text':
      return { type: 'text', text: data.text };
    case 'image':
    case 'audio':
      return toFile(data.mimeType, data.data);
    case 'resource':
      return 'text' in data.resource
        ? { type: 'text', text: data.resource.text }
        : toFile(data.resource.mimeType ?? 'application/octet-stream', data.resource.blob);
    case 'resource_link':
      return { type: 'text', text: `${data.name ?? 'resource'}: ${data.uri}` };
  }
}

function toFile(mediaType: string, data: string): ModelContent {
  return BASE64.test(data) ? { type: 'file', mediaType, data: { type: 'data', data } } : OTHER;
}
