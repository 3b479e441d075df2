import type { McpServer } from './servers.js';

/** Shorter values are not treated as secrets, since they occur in any text. */
const MIN_CHARS = 6;

/** Header values change over time; only the newest ones can still appear in answers. */
const MAX_KEPT = 100;
const PLAIN: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'user-agent',
]);

export type Redact = (text: string) => string;

/** @param seen further secrets, as they become known */
export function createRedact(server: McpServer, seen: ReadonlySet<string>): Redact {
  const given = 'command' in server ? server.env : server.headers;
  const named = typeof given === 'object' ? Object.entries(given) : [];
  const known = named.filter(([name]) => !isPlain(name)).map(([, value]) => value);
  return (text) =>
    [...known, ...seen]
      .flatMap((value) => [value, value.replace(/^\w+ /, '')])
      .filter(({ length }) => length >= MIN_CHARS)
      .reduce((rest, value) => rest.replaceAll(value, '***'), text);
}

export function isPlain(header: string): boolean {
  return PLAIN.has(header.toLowerCase());
}

export function keepSecret(secrets: Set<string>, value: string): void {
  secrets.delete(value);
  secrets.add(value);
  const [oldest] = secrets;
  if (secrets.size > MAX_KEPT && oldest !== undefined) secrets.delete(oldest);
}
