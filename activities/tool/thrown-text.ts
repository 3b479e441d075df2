import { LIMITS } from '../../protocol/limits.js';

/**
 * What the model reads of something that a tool threw: the message of an error, a text as it is, anything
 * else as JSON, as in the AI SDK. Tools may throw what cannot even be described.
 */
export function toThrownText(thrown: unknown): string {
  return describe(thrown)
    .slice(0, LIMITS.errorTextBytes / 4)
    .toWellFormed();
}

function describe(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown;
    if (thrown === undefined || thrown === null) return UNKNOWN;
    if (!(thrown instanceof Error)) return toJson(thrown) ?? UNKNOWN;
    const message: unknown = thrown.message;
    if (typeof message !== 'string') return toJson(message) ?? UNKNOWN;
    return message === '' ? String(thrown) : message;
  } catch {
    return UNKNOWN;
  }
}

/** Undefined for what JSON has no form for, although the types say otherwise. */
function toJson(value: unknown): string | undefined {
  return JSON.stringify(value);
}

const UNKNOWN = 'unknown error';
