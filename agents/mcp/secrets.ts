import type { McpServer } from './mcp-servers.js';

/** Shorter values are no secrets, and stand in any text. */
const LEAST_CHARS = 6;

/** Takes the values of a server's settings out of texts that it writes. */
export type Redact = (text: string) => string;

/** @param seen further secrets, as they become known */
export function createRedact(server: McpServer, seen: ReadonlySet<string>): Redact {
  const given = 'command' in server ? server.env : server.headers;
  const known = typeof given === 'object' ? Object.values(given) : [];
  return (text) =>
    [...known, ...seen]
      .flatMap((value) => [value, value.replace(/^\w+ /, '')])
      .filter(({ length }) => length >= LEAST_CHARS)
      .reduce((rest, value) => rest.replaceAll(value, '***'), text);
}
