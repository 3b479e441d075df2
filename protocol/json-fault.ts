import { isDeeperThan } from './json-depth.js';
import { LIMITS } from './limits.js';

/** Why a value cannot be stored as JSON, as the end of a sentence; undefined if it can. */
export function findJsonFault(value: unknown): string | undefined {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    // Cycles, BigInt, a toJSON that throws, and what is far too deep for the engine.
  }
  if (json === undefined) return 'it cannot be written as JSON';
  return isDeeperThan(LIMITS.jsonDepth, json) ? 'it is nested too deeply' : undefined;
}
