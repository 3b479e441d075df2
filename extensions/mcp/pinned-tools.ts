import { z } from 'zod';
import { toModelNames, type ToolHost } from '../../agents/index.js';
import { isDeeperThan, LIMITS } from '../../protocol/limits.js';
import type { McpServer } from './servers.js';

type McpLogger = ToolHost['logger'];

/** The tools that a run keeps in its record. */
export const PinnedTools = z.array(
  z.object({
    server: z.string(),
    tool: z.string(),
    /** The tool's name for the model. */
    name: z.string(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()),
    /** The server's own annotations. */
    isReadOnly: z.boolean(),
    isIdempotent: z.boolean(),
  }),
);

/** A server's tool as a run keeps it from its first step to its end. */
export type PinnedTool = z.output<typeof PinnedTools>[number];

const LOGGED_CHARS = 64;
const DESCRIPTION_CHARS = 4_096;
const SCHEMA_DEPTH = 50;

const Hint = z.boolean().optional().catch(undefined);
const Listed = z.looseObject({
  name: z.string().min(1).max(LIMITS.idChars),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  annotations: z
    .looseObject({ readOnlyHint: Hint, idempotentHint: Hint })
    .optional()
    .catch(undefined),
});

/**
 * Picks the usable tools of a server's list, each once, and gives them unique names. Unusable tools are left out
 * and logged.
 *
 * @param taken names of the agent's own tools
 */
export function toPinnedTools(
  server: string,
  config: McpServer,
  listed: readonly unknown[],
  taken: ReadonlySet<string>,
  logger: McpLogger,
): PinnedTool[] {
  const seen = new Set<string>();
  const usable = new Map<string, z.output<typeof Listed>>();
  for (const each of listed) {
    const parsed = Listed.safeParse(each);
    const own = (each as { name?: unknown } | null)?.name;
    const fault = parsed.success
      ? usable.has(parsed.data.name)
        ? 'it is listed twice'
        : findFault(parsed.data)
      : 'it has no usable form';
    if (typeof own === 'string') seen.add(own);
    if (parsed.success && fault === undefined) {
      usable.set(parsed.data.name, parsed.data);
      continue;
    }
    const tool = typeof own === 'string' ? own.slice(0, LOGGED_CHARS) : undefined;
    logger.warn({ server, tool, fault }, 'a tool of a server is left out');
  }
  const names = toModelNames(new Set(usable.keys()), { taken, prefix: `${server}_` });
  const pinned: PinnedTool[] = [];
  for (const [tool, { description = '', inputSchema, annotations }] of usable) {
    const isReadOnly = annotations?.readOnlyHint === true;
    if (permissionOf(config, tool, isReadOnly) === 'never') continue;
    const name = names.get(tool) ?? tool;
    pinned.push({
      server,
      tool,
      name,
      // The model gets no description that is only the name.
      description: description.trim().slice(0, DESCRIPTION_CHARS).toWellFormed() || name,
      inputSchema,
      isReadOnly,
      isIdempotent: isReadOnly || annotations?.idempotentHint === true,
    });
  }
  warnOfUnknown(server, config, seen, logger);
  return pinned;
}

/** Returns as many of the tools, in their order, as a run can keep. */
export function withinBounds(tools: readonly PinnedTool[], logger: McpLogger): PinnedTool[] {
  let bytes = 2;
  const kept = tools.slice(0, LIMITS.mcpTools).filter((tool) => {
    const size = Buffer.byteLength(JSON.stringify(tool)) + 1;
    if (bytes + size > LIMITS.mcpToolsBytes) return false;
    bytes += size;
    return true;
  });
  const left = tools.filter((tool) => !kept.includes(tool)).map(({ name }) => name);
  if (left.length > 0) {
    const text = 'the servers offer more tools than a run can keep; name some in deny';
    logger.warn({ left: left.slice(0, LIMITS.mcpTools), count: left.length }, text);
  }
  return kept;
}

function findFault({ inputSchema }: z.output<typeof Listed>): string | undefined {
  const json = JSON.stringify(inputSchema);
  if (Buffer.byteLength(json) > LIMITS.mcpSchemaBytes) return 'its schema is too large';
  return isDeeperThan(SCHEMA_DEPTH, json) ? 'its schema is nested too deeply' : undefined;
}

type Lists = Pick<McpServer, 'allow' | 'approve' | 'deny'>;

type Permission = 'run' | 'ask' | 'never';

/** Returns the permission for a tool. The server's annotation counts only for a tool that no list names. Pure. */
export function permissionOf(
  { allow, approve, deny }: Lists,
  tool: string,
  isReadOnly: boolean,
): Permission {
  for (const name of [tool, '*']) {
    if (deny?.includes(name) === true) return 'never';
    if (approve?.includes(name) === true) return 'ask';
    if (allow?.includes(name) === true) return 'run';
  }
  return isReadOnly ? 'run' : 'ask';
}

/** Warns of unknown names: a misspelt name in `deny` or `approve` would protect nothing. */
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
