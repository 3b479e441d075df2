import type { CustomState } from '../contract/custom-state.js';
import type { NumberedChanges, StagedChanges, StateRead } from '../contract/staging.js';
import { parseStored } from './stored-json.js';

/** The agent's own state with its staged changes, as a transition replies it. */
export function toStateRead([version, state, staged]: readonly [
  version: string,
  state: string,
  staged: string[],
]): StateRead {
  return {
    version: Number(version),
    customState: state === '' ? {} : (parseStored(state, 'state') as CustomState),
    staged: toStaged(pairsOf(staged)),
  };
}

export function pairsOf(flat: readonly string[]): [field: string, value: string][] {
  return Array.from({ length: flat.length / 2 }, (_, at) => [
    flat[at * 2] ?? '',
    flat[at * 2 + 1] ?? '',
  ]);
}

/** In the order in which the changes were staged. */
export function toStaged(entries: readonly [field: string, value: string][]): NumberedChanges[] {
  return entries
    .filter(([field]) => field !== 'n')
    .map(toNumbered)
    .sort((a, b) => a.n - b.n);
}

/** `<stored stepId>/<toolCallId>` → `<number> <changes>`. */
function toNumbered([field, value]: readonly [string, string]): NumberedChanges {
  const space = value.indexOf(' ');
  const changes = parseStored(value.slice(space + 1), 'staged changes') as StagedChanges;
  const stepId = field.slice(0, -(changes.toolCallId.length + 1));
  return { ...changes, stepId, n: Number(value.slice(0, space)) };
}
