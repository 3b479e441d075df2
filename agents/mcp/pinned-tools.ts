import { createHash } from 'node:crypto';
import { z } from 'zod';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { isDeeperThan } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';
import { McpError } from './mcp-error.js';
import type { McpServer } from './mcp-servers.js';
import type { McpLogger } from './mcp-transport.js';
import { permissionOf } from './permissions.js';

/** A tool of a server as a run keeps it, from its first step to its end. */
export interface PinnedTool {
  server: string;
  /** Its name at the server. */
  tool: string;
  /** The name under which the model calls it. */
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
  /** What the server says of it. */
  isReadOnly: boolean;
  isIdempotent: boolean;
}

const PinnedTools = z.array(
  z.object({
    server: z.string(),
    tool: z.string(),
    name: z.string(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    isReadOnly: z.boolean(),
    isIdempotent: z.boolean(),
  }),
);

/** Names longer than this are cut, and distinguished by a hash. */
const NAME_CHARS = 64;
const HASH_CHARS = 8;
const DESCRIPTION_CHARS = 4_096;
/** More than any schema needs. */
const SCHEMA_DEPTH = 50;

const Hint = z.boolean().optional().catch(undefined);
const Listed = z.looseObject({
  name: z.string().min(1).max(128),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  annotations: z
    .looseObject({ readOnlyHint: Hint, idempotentHint: Hint })
    .optional()
    .catch(undefined),
});

/**
 * The tools of a server's list that an agent can use. One that cannot be used is left out, and logged.
 *
 * @param taken names of other tools; those of the result are added
 * @throws McpError `mcp_invalid_tools` for a list with a name twice
 */
export function toPinnedTools(
  server: string,
  config: McpServer,
  listed: readonly unknown[],
  taken: Set<string>,
  logger: McpLogger,
): PinnedTool[] {
  const seen = new Set<string>();
  const pinned: PinnedTool[] = [];
  for (const each of listed) {
    const parsed = Listed.safeParse(each);
    const own = (each as { name?: unknown } | null)?.name;
    if (typeof own === 'string' && seen.has(own)) {
      throw new McpError('mcp_invalid_tools', `The server "${server}" lists a tool twice.`);
    }
    if (typeof own === 'string') seen.add(own);
    const fault = parsed.success ? findFault(server, parsed.data, taken) : 'it has no usable form';
    if (!parsed.success || fault !== undefined) {
      const tool = typeof own === 'string' ? own.slice(0, NAME_CHARS) : undefined;
      logger.warn({ server, tool, fault }, 'a tool of a server is left out');
      continue;
    }
    const { name: tool, description = '', inputSchema, annotations } = parsed.data;
    const isReadOnly = annotations?.readOnlyHint === true;
    if (permissionOf(config, tool, isReadOnly) === 'never') continue;
    const name = toToolName(server, tool);
    taken.add(name);
    pinned.push({
      server,
      tool,
      name,
      description: description.trim().slice(0, DESCRIPTION_CHARS).toWellFormed() || tool,
      inputSchema,
      isReadOnly,
      isIdempotent: isReadOnly || annotations?.idempotentHint === true,
    });
  }
  warnOfUnknown(server, config, seen, logger);
  return pinned;
}

/** @throws McpError `mcp_invalid_tools` for more than a run can keep */
export function assertBounded(tools: readonly PinnedTool[]): void {
  if (tools.length > LIMITS.mcpTools) {
    const text = `The servers offer ${String(tools.length)} tools, and at most ${String(LIMITS.mcpTools)} can be used; name some in deny.`;
    throw new McpError('mcp_invalid_tools', text);
  }
  if (Buffer.byteLength(JSON.stringify(tools)) > LIMITS.mcpToolsBytes) {
    const text = 'The schemas of the servers are too large together; name some tools in deny.';
    throw new McpError('mcp_invalid_tools', text);
  }
}

/** What the record kept. @throws ZodError */
export function parsePinnedTools(stored: unknown): PinnedTool[] {
  return PinnedTools.parse(stored);
}

function findFault(
  server: string,
  { name, inputSchema }: z.output<typeof Listed>,
  taken: ReadonlySet<string>,
): string | undefined {
  const json = JSON.stringify(inputSchema);
  if (Buffer.byteLength(json) > LIMITS.mcpSchemaBytes) return 'its schema is too large';
  if (isDeeperThan(SCHEMA_DEPTH, json)) return 'its schema is nested too deeply';
  const own = toToolName(server, name);
  return taken.has(own) || own === FINISH_TOOL_NAME ? 'another tool has the same name' : undefined;
}

/** The name for the model: letters, digits, `_` and `-`, as providers demand. Pure. */
export function toToolName(server: string, tool: string): string {
  const name = `${server}_${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  if (name.length <= NAME_CHARS) return name;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, HASH_CHARS);
  return `${name.slice(0, NAME_CHARS - HASH_CHARS - 1)}_${hash}`;
}

/** A name that is spelt wrongly in `deny` or `approve` would protect nothing. */
function warnOfUnknown(
  server: string,
  { allow = [], approve = [], deny = [], idempotent = [] }: McpServer,
  seen: ReadonlySet<string>,
  logger: McpLogger,
): void {
  const named = [...allow, ...approve, ...deny, ...idempotent];
  const unknown = named.filter((name) => name !== '*' && !seen.has(name));
  if (unknown.length === 0) return;
  logger.warn({ server, unknown }, 'a server of tools does not have tools that its lists name');
}
