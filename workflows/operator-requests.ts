import { ApplicationFailure } from '@temporalio/workflow';
import type { OperatorAnswer, OperatorTarget } from '../protocol/temporal.js';
import type { StopMode } from '../protocol/run.js';

/** Arguments of operators' updates: named fields and no others. */
interface Decided extends OperatorTarget {
  reason?: string;
}

export interface OperatorRequests {
  approve: Decided & { input?: unknown };
  deny: Decided;
  submitToolResult: OperatorTarget & { result?: unknown; error?: string };
  extendDeadline: OperatorTarget & { byMs: number };
  stop: { mode?: StopMode; reason?: string; by?: string };
}

/**
 * Longest argument, in bytes of JSON. Temporal takes up to 2 MiB, but then refuses the activity that
 * gets the argument and more: the workflow's task would fail again and again.
 */
const MAX_BYTES = 1.5 * 1024 * 1024;

interface Field {
  fits: (value: unknown) => boolean;
  is: string;
  required?: true;
}

const ID: Field = { fits: isName, is: 'a text of 1 to 256 characters', required: true };
const BY: Field = { fits: isName, is: 'a text of 1 to 256 characters' };
const SHOWN: Field = { fits: isText, is: 'a text of 1 to 768 characters' };
const TARGET = { toolCallId: ID, approvalId: SHOWN, inputHash: SHOWN, by: BY };
const TEXT: Field = { fits: (value) => typeof value === 'string', is: 'text' };
const ANY: Field = { fits: () => true, is: 'JSON' };
const MS: Field = {
  fits: (value) => Number.isSafeInteger(value) && (value as number) > 0,
  is: 'a whole number of milliseconds above 0',
  required: true,
};
const MODE: Field = {
  fits: (value) => value === 'interrupt' || value === 'abort',
  is: "'interrupt' or 'abort'",
};

const FIELDS: { [Name in keyof OperatorRequests]: Record<keyof OperatorRequests[Name], Field> } = {
  approve: { ...TARGET, input: ANY, reason: TEXT },
  deny: { ...TARGET, reason: TEXT },
  submitToolResult: { ...TARGET, result: ANY, error: TEXT },
  extendDeadline: { ...TARGET, byMs: MS },
  stop: { mode: MODE, reason: TEXT, by: BY },
};

/**
 * Validates an update. A refused update leaves no trace in history.
 *
 * @throws ApplicationFailure `validation_error` for a field that is missing, unknown or malformed
 */
export function checkRequest(name: keyof OperatorRequests, input: unknown): void {
  const fields: Record<string, Field> = FIELDS[name];
  if (input === null || input === undefined) {
    if (Object.values(fields).some(({ required }) => required)) refuse('the argument is missing');
    return;
  }
  if (typeof input !== 'object' || Array.isArray(input)) refuse('the argument must be an object');
  const { length } = new TextEncoder().encode(JSON.stringify(input));
  if (length > MAX_BYTES) refuse('the argument is too large');
  for (const [field, value] of Object.entries(input)) {
    if (!Object.hasOwn(fields, field)) refuse(`unknown field "${field.slice(0, 64)}"`);
    if (fields[field]?.fits(value) === false) refuse(`${field} must be ${fields[field].is}`);
  }
  for (const [field, { required }] of Object.entries(fields)) {
    if (required === true && !Object.hasOwn(input, field)) refuse(`${field} is missing`);
  }
  if (name === 'submitToolResult' && 'result' in input && 'error' in input) {
    refuse('give a result or an error, not both');
  }
}

/**
 * Picks the request's own fields by name. History may contain updates with further fields that
 * another build accepted; these are ignored.
 */
export function pickRequest<Name extends keyof OperatorRequests>(
  name: Name,
  input: unknown,
): OperatorRequests[Name] {
  const picked: Record<string, unknown> = {};
  for (const field of Object.keys(FIELDS[name])) {
    const value = (input as Record<string, unknown> | null | undefined)?.[field];
    if (value !== undefined) picked[field] = value;
  }
  return picked as unknown as OperatorRequests[Name];
}

/** A client tool's result in the form of the activity; a missing result counts as null. */
export function toResultAnswer(given: OperatorRequests['submitToolResult']): OperatorAnswer {
  const { result, error, ...target } = given;
  return error === undefined ? { ...target, result: result ?? null } : { ...target, error };
}

function isName(value: unknown): boolean {
  return isText(value) && (value as string).length <= 256;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= 768;
}

function refuse(why: string): never {
  throw ApplicationFailure.nonRetryable(why, 'validation_error');
}
