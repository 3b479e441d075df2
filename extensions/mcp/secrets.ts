import type { McpServer } from './servers.js';

/** Shorter values are no secrets, and stand in any text. */
const LEAST_CHARS = 6;

/** Headers change; those of requests that are still answered are among the newest. */
const MOST_KEPT = 100;
const PLAIN: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'user-agent',
]);

/** Takes the values of a server's settings out of texts that it writes. */
export type Redact = (text: string) => string;

/** @param seen further secrets, as they become known */
export function createRedact(server: McpServer, seen: ReadonlySet<string>): Redact {
  const given = 'command' in server ? server.env : server.headers;
  const named = typeof given === 'object' ? Object.entries(given) : [];
  const known = named.filter(([name]) => !isPlain(name)).map(([, value]) => value);
  return (text) =>
    [...known, ...seen]
      .flatMap((value) => [value, value.replace(/^\w+ /, '')])
      .filter(({ length }) => length >= LEAST_CHARS)
      .reduce((rest, value) => rest.replaceAll(value, '***'), text);
}

/** True of a header whose value is no secret, and may stand in any text. */
export function isPlain(header: string): boolean {
  return PLAIN.has(header.toLowerCase());
}

export function keepSecret(secrets: Set<string>, value: string): void {
  secrets.delete(value);
  secrets.add(value);
  const [oldest] = secrets;
  if (secrets.size > MOST_KEPT && oldest !== undefined) secrets.delete(oldest);
}
