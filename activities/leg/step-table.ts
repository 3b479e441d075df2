import type { CallLine, StepLine } from '../../protocol/activities.js';

/** Steps that a table holds; older ones drop out. */
const MOST_STEPS = 50;
/** Calls of one step that a table names; the others are counted. */
const MOST_CALLS = 10;

/** What operators read of a leg; small, since heartbeats and the result carry it. */
export interface StepTable {
  readonly lines: StepLine[];
  /** The model has completed a step. */
  spoken: (line: StepLine) => void;
  /** A call of a step is over; `isNew` unless an attempt before has settled it. */
  called: (step: number, call: CallLine, isNew: boolean) => void;
}

/** @param lines those that an earlier attempt has reported; the table keeps them current */
export function createStepTable(lines: StepLine[] = []): StepTable {
  const reported = { ...lines.at(-1) };
  let repeats = (reported.calls?.length ?? 0) + (reported.more ?? 0);

  function lineOf(step: number): StepLine {
    const last = lines.at(-1);
    if (last?.step === step) return last;
    const added: StepLine = { step };
    lines.push(added);
    if (lines.length > MOST_STEPS) lines.splice(0, lines.length - MOST_STEPS);
    return added;
  }

  return {
    lines,
    spoken: (line) => {
      Object.assign(lineOf(line.step), line);
    },
    called: (step, call, isNew) => {
      if (!isNew && step === reported.step && repeats > 0) {
        repeats -= 1;
        return;
      }
      const line = lineOf(step);
      line.calls ??= [];
      if (line.calls.length < MOST_CALLS) line.calls.push(call);
      else line.more = (line.more ?? 0) + 1;
    },
  };
}
