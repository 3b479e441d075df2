import { jsonSchema } from 'ai';
import { z } from 'zod';
import type { ToolDefinition } from '../definitions.js';
import type { McpAnswer } from './mcp-connection.js';
import type { McpConnections } from './mcp-connections.js';
import { McpError } from './mcp-error.js';
import type { McpServer } from './mcp-servers.js';
import { toMcpModelOutput } from './model-output.js';
import { isRepeatable, permissionOf } from './permissions.js';
import type { PinnedTool } from './pinned-tools.js';
import { toContent } from './tool-content.js';

const CALL_MS = 60_000;
const ERROR_CHARS = 2_000;

/** The server checks its own inputs; a schema of strangers is not carried out in a worker. */
const AnyInput = z.looseObject({});

/** A pinned tool as one of this runtime; undefined if its agent does not have it any more. */
export function toToolDefinition(
  pinned: PinnedTool,
  server: McpServer,
  connections: McpConnections,
): ToolDefinition | undefined {
  const { tool, name, description, inputSchema } = pinned;
  const permission = permissionOf(server, tool, pinned.isReadOnly);
  if (permission === 'never') return undefined;
  const isIdempotent = isRepeatable(server, tool, pinned.isIdempotent);
  const { approvers, separateApprover, deadlineMs, callTimeoutMs = CALL_MS } = server;
  return Object.freeze({
    name,
    description,
    inputSchema: AnyInput,
    forModel: { inputSchema: jsonSchema(inputSchema) },
    isDynamic: true,
    ...(permission === 'ask' && { requireApproval: true, approvers, separateApprover, deadlineMs }),
    idempotent: isIdempotent,
    timeoutMs: callTimeoutMs,
    toModelOutput: toMcpModelOutput,
    execute: async (input, { idempotencyKey: key, abortSignal: signal }) => {
      const connection = connections.to(pinned.server, server);
      const answer = await connection.call({
        tool,
        input,
        key,
        signal,
        isRepeatable: isIdempotent,
      });
      if (answer.isError === true) throw reported(connection.redact(toText(answer)));
      const { content, structuredContent } = answer;
      return { content, ...(structuredContent !== undefined && { structuredContent }) };
    },
  } satisfies ToolDefinition as ToolDefinition);
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
