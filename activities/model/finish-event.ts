import type { FinishEvent, HookPlace, StepRecord } from '../../agents/step-hooks.js';
import { toTotalUsage } from './step-records.js';

/** What the lists of all steps have together. */
const LISTS = [
  ...(['content', 'files', 'sources', 'toolCalls', 'staticToolCalls', 'dynamicToolCalls'] as const),
  ...(['toolResults', 'staticToolResults', 'dynamicToolResults', 'warnings'] as const),
];

/** The end of a run as AI SDK 7 describes it: what is long is of all steps, the rest of the last one. Pure. */
export function toFinishEvent(
  steps: StepRecord[],
  finalStep: StepRecord,
  place: HookPlace,
): FinishEvent {
  const usage = toTotalUsage(steps);
  const all = (field: (typeof LISTS)[number]): unknown[] =>
    steps.flatMap((step): unknown[] => [...(step[field] ?? [])]);
  return {
    ...finalStep,
    ...Object.fromEntries(LISTS.map((field) => [field, all(field)])),
    ...place,
    ...{ usage, totalUsage: usage, steps, finalStep },
    // Made only for those who look: all steps' messages together are long.
    get responseMessages() {
      return steps.flatMap(({ response }) => response.messages);
    },
  };
}
