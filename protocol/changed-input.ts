/** What the model is told of a call whose input a person changed before it was approved. */
export interface ChangedInput {
  /** Who changed it. */
  by: string;
  /** What it was carried out with. */
  input: unknown;
  /** What came of it: the result as text, JSON unless it was text, or why it failed. */
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

/** The same, read back by programs that stand in for a model; undefined for any other text. */
export function readChangedInput(text: string): ChangedInput | undefined {
  const [, by, input, kind, outcome] = NOTE.exec(text) ?? [];
  if (by === undefined || input === undefined || outcome === undefined) return undefined;
  try {
    return { by, input: JSON.parse(input), outcome, failed: kind === 'It failed' };
  } catch {
    return undefined;
  }
}
