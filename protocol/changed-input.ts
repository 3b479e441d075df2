/** Note for the model about a call whose input a person changed before approving it. */
export interface ChangedInput {
  /** The person who changed it. */
  by: string;
  /** The input with which the call was executed. */
  input: unknown;
  /** The outcome: the result as text (JSON unless it was a string), or the error. */
  outcome: string;
  failed: boolean;
}

const FAILED = 'It failed: ';
const RESULT = 'Result: ';
const NOTE =
  /^Before it was approved, the input of this call was changed by (.+?) to: (.+)\n(It failed|Result): ([^]*)$/;

export function writeChangedInput({ by, input, outcome, failed }: ChangedInput): string {
  const change = `Before it was approved, the input of this call was changed by ${by} to: ${JSON.stringify(input)}`;
  return `${change}\n${failed ? FAILED : RESULT}${outcome}`;
}

/** Parses such a note, for programs that stand in for a model; undefined for any other text. */
export function readChangedInput(text: string): ChangedInput | undefined {
  const [, by, input, kind, outcome] = NOTE.exec(text) ?? [];
  if (by === undefined || input === undefined || outcome === undefined) return undefined;
  try {
    return { by, input: JSON.parse(input), outcome, failed: kind === 'It failed' };
  } catch {
    return undefined;
  }
}
