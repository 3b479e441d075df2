import { LIMITS } from '../../protocol/limits.js';
import type { RecordStepInput, SuspendCallInput } from '../contract/journal.js';
import { toStoredChanges } from '../record/to-stored-changes.js';
import type { RequestOf } from '../transitions/library.js';
import type { Contents } from './contents.js';
import { callRequest } from './requests.js';

/** Requests of the transitions that write the journal of a call. Pure except for `contents`. */

export function recordStepRequest(
  input: RecordStepInput,
  contents: Contents,
): RequestOf<'recordStep'> {
  const { writer, toolCallId, at, now, operation, failed } = input;
  return {
    ...{ writer, toolCallId, at, now, failed },
    operation: contents.addOptional(operation, 2),
    changes: changesOf(input, contents),
    most: LIMITS.journal,
  };
}

export function suspendRequest(
  input: SuspendCallInput,
  contents: Contents,
): RequestOf<'suspendCall'> {
  const { writer, toolCallId, at, now, operation, wait, dueInMs } = input;
  return {
    ...{ writer, toolCallId, at, now, dueInMs },
    operation: contents.addJson(operation, 2),
    wait: callRequest(wait, input, contents),
    changes: changesOf(input, contents),
    most: LIMITS.journal,
  };
}

function changesOf(
  { toolCallId, changes = [], now }: RecordStepInput | SuspendCallInput,
  contents: Contents,
): number | undefined {
  if (changes.length === 0) return undefined;
  return contents.add(toStoredChanges({ toolCallId, patches: changes, timestamp: now }));
}
