import type { Operation } from '../../stores/contract/journal.js';
import { LIMITS } from '../../protocol/limits.js';

/** Why an execution with a journal cannot continue; its call is settled with this, whatever the tool catches. */
export class JournalFailure extends Error {
  override readonly name = 'JournalFailure';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Waits are shown to pages as tools. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * The name of an operation: the wanted one, else its kind, with a number from the second on.
 *
 * @throws JournalFailure `invalid_step_name`, `duplicate_step_name`
 */
export function takeName(
  taken: Set<string>,
  kind: Operation['kind'],
  wanted: string | undefined,
): string {
  let name = wanted ?? kind;
  for (let n = 2; wanted === undefined && taken.has(name); n += 1) name = `${kind}_${String(n)}`;
  const isValid =
    typeof name === 'string' &&
    (kind === 'step' ? name !== '' && name.length <= LIMITS.idChars : TOOL_NAME.test(name));
  if (!isValid) throw new JournalFailure('invalid_step_name', `Not a name for a ${kind}.`);
  if (taken.has(name)) {
    throw new JournalFailure('duplicate_step_name', `Two operations have the name "${name}".`);
  }
  taken.add(name);
  return name;
}

/** What the tool has recorded, and what it does now instead. */
export function orderText(
  at: number,
  known: Pick<Operation, 'kind' | 'name'>,
  now: Pick<Operation, 'kind' | 'name'>,
): string {
  const show = ({ kind, name }: Pick<Operation, 'kind' | 'name'>): string => `${kind} "${name}"`;
  return `Operation ${String(at + 1)} was ${show(known)} and is ${show(now)} now: the tool has changed.`;
}

/** The record takes no more. */
export function tooManySteps(): JournalFailure {
  return new JournalFailure('too_many_steps', 'The tool has recorded as much as it may.');
}
