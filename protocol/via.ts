import type { Channel } from './actor.js';

/** Channels that a request may name. They tell apart ways, not people: anyone may send the header. */
const NAMED: readonly string[] = ['page', 'console', 'cli', 'mcp'] satisfies Channel[];

/** The channel that the header `x-helix-via` names; `api` without it, and for other values. */
export function readVia(value: string | null | undefined): Channel {
  return value != null && NAMED.includes(value) ? (value as Channel) : 'api';
}
