import { enablePatches, freeze, produceWithPatches, type Patch } from 'immer';
import { createPatch } from 'rfc6902';
import type { z } from 'zod';
import type { JSONPatchOperation } from '../protocol/chunk.js';
import { findJsonFault, LIMITS } from '../protocol/limits.js';
import { StateError } from './tool-error.js';

enablePatches();

/** One change of a state, and the patches that undo it. RFC 6902. */
export interface StateChange {
  patches: JSONPatchOperation[];
  undo: JSONPatchOperation[];
}

/** An agent's state within one tool call: the state at its start, plus the call's own changes. */
export interface AgentState {
  /** Deeply frozen. */
  get: () => unknown;
  /**
   * Applies a change that `accept` allows. Returns undefined if nothing differs afterwards.
   *
   * @throws StateError, or an error of `accept`; then nothing is changed
   */
  update: (
    change: (draft: never) => unknown,
    accept?: (made: StateChange) => void,
  ) => StateChange | undefined;
  patches: () => JSONPatchOperation[];
}

/** @throws StateError if the stored state does not fit the schema */
export function createAgentState(schema: z.ZodType, stored: unknown): AgentState {
  let state = parseState(schema, stored);
  const patches: JSONPatchOperation[] = [];
  let bytes = 0;
  return {
    get: () => state,
    update: (change, accept) => {
      const next = applyChange(schema, state, change);
      if (next.patches.length === 0) return undefined;
      const newBytes = bytes + sizeOf(next.patches);
      if (sizeOf(next.state) > LIMITS.stateBytes || newBytes > LIMITS.stateBytes) {
        throw new StateError('state_too_large', 'The state would become too large.');
      }
      const made = { patches: next.patches, undo: next.undo };
      accept?.(made);
      ({ state } = next);
      bytes = newBytes;
      patches.push(...next.patches);
      return made;
    },
    patches: () => patches,
  };
}

/**
 * Parses the stored state with the schema and its defaults; deeply frozen.
 *
 * @throws StateError if it does not fit
 */
export function parseState(schema: z.ZodType, stored: unknown): unknown {
  return freeze(parse(schema, stored), true);
}

function applyChange(
  schema: z.ZodType,
  before: unknown,
  change: (draft: never) => unknown,
): StateChange & { state: unknown } {
  const [draft, patches, undo] = produceWithPatches(before, (value: unknown) => {
    const result = change(value as never);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      throw new StateError('state_invalid', 'updateState takes no async function.');
    }
  });
  // Fields that the schema removes or adds, and values that JSON drops, are changes too.
  const state = parse(schema, draft);
  if (JSON.stringify(state) === JSON.stringify(draft) && !patches.some(isNoJson)) {
    return {
      state: freeze(draft, true),
      patches: patches.map(toOperation),
      undo: undo.map(toOperation),
    };
  }
  return {
    state: freeze(state, true),
    patches: createPatch(before, state),
    undo: createPatch(state, before),
  };
}

function parse(schema: z.ZodType, value: unknown): unknown {
  checkJson(value);
  const parsed = schema.safeParse(JSON.parse(JSON.stringify(value)));
  if (parsed.success) {
    // A schema may produce a value that JSON cannot hold.
    checkJson(parsed.data);
    return parsed.data;
  }
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: 'no object' };
  const where = path.length === 0 ? '' : `${path.map(String).join('.')}: `;
  throw new StateError('state_invalid', `The state does not fit its schema: ${where}${message}`);
}

function checkJson(value: unknown): void {
  const fault = findJsonFault(value);
  if (fault !== undefined)
    throw new StateError('state_invalid', `The state cannot be stored: ${fault}.`);
}

function isNoJson({ op, value }: Patch): boolean {
  return op !== 'remove' && value === undefined;
}

function toOperation({ op, path, value }: Patch): JSONPatchOperation {
  const pointer = path.map(
    (part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`,
  );
  return { op, path: pointer.join(''), ...(op !== 'remove' && { value: value as unknown }) };
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
