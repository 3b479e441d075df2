import type { FinishEvent, HookPlace, StepRecord } from '../../agents/step-hooks.js';
import { toTotalUsage } from './step-records.js';

/** What the lists of all steps have together. */
const LISTS = [
  'content',
  'files',
  'sources',
  'toolCalls',
  'staticToolCalls',
  'dynamicToolCalls',
  'toolResults',
  'staticToolResults',
  'dynamicToolResults',
  'warnings',
] as const;

type AllSteps = (typeof LISTS)[number] | 'usage' | 'totalUsage' | 'steps';

/** What is of all steps. Pure. */
export function toAllSteps(steps: StepRecord[]): Pick<FinishEvent, AllSteps> {
  const usage = toTotalUsage(steps);
  const all = (field: (typeof LISTS)[number]): unknown[] =>
    steps.flatMap((step): unknown[] => [...(step[field] ?? [])]);
  const lists = Object.fromEntries(LISTS.map((field) => [field, all(field)])) as unknown as Pick<
    FinishEvent,
    (typeof LISTS)[number]
  >;
  return { ...lists, usage, totalUsage: usage, steps };
}

/** The end of a run as AI SDK 7 describes it: what is long is of all steps, the rest of the last one. Pure. */
export function toFinishEvent(
  steps: StepRecord[],
  finalStep: StepRecord,
  place: HookPlace,
): FinishEvent {
  return {
    ...finalStep,
    ...toAllSteps(steps),
    ...place,
    finalStep,
    // Made only for those who look: all steps' messages together are long.
    get responseMessages() {
      return steps.flatMap(({ response }) => response.messages);
    },
  };
}
