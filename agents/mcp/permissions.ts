import type { McpServer } from './mcp-servers.js';

type Lists = Pick<McpServer, 'allow' | 'approve' | 'deny'>;

/** `never`: the model is not offered the tool. */
export type Permission = 'run' | 'ask' | 'never';

/** Whether a call needs a person. A server's own word for a tool counts only where no list names it. Pure. */
export function permissionOf(lists: Lists, tool: string, isReadOnly: boolean): Permission {
  return listed(lists, tool) ?? (isReadOnly ? 'run' : 'ask');
}

/** Who asks about every call of a tool does not take the server's word that it may be repeated. Pure. */
export function isRepeatable(
  server: Lists & Pick<McpServer, 'idempotent'>,
  tool: string,
  hint: boolean,
): boolean {
  if (server.idempotent?.includes(tool) === true) return true;
  return hint && listed(server, tool) !== 'ask';
}

function listed({ allow, approve, deny }: Lists, tool: string): Permission | undefined {
  for (const name of [tool, '*']) {
    if (deny?.includes(name) === true) return 'never';
    if (approve?.includes(name) === true) return 'ask';
    if (allow?.includes(name) === true) return 'run';
  }
  return undefined;
}
