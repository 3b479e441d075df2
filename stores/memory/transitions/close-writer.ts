import type { Writer } from '../../contract/log.js';
import type { MemorySession } from '../session.js';

/** What the writer wrote stays, no later attempt withdraws it. */
export function closeWriter(
  { writers }: MemorySession,
  { name, token }: Writer,
): { kind: 'closed' | 'fenced' } {
  const owned = writers.get(name);
  if (owned !== undefined && owned.token !== token) return { kind: 'fenced' };
  writers.delete(name);
  return { kind: 'closed' };
}
