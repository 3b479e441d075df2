// What a failing provider must not do to a run, or to the other runs; see mutations.mjs.
const STEP = 'test/activities/model-step.test.ts';
const FAILURES = 'test/activities/provider-failure.test.ts';
const BUDGET = 'test/activities/retry-budget.test.ts';
const FALLBACK = 'test/activities/fallback-models.test.ts';

export const providers = [
  {
    defence: 'Provider: refusals of the AI Gateway count by their status',
    file: 'activities/model/provider-failure.ts',
    edits: [['!(OF_GATEWAY in error)', 'true']],
    suite: FAILURES,
    test: 'a failure of the AI Gateway a failure of the AI Gateway with status 503 is typed',
  },
  {
    defence: 'Provider: a reply of broken JSON, or of nothing, is asked for again',
    file: 'activities/model/provider-failure.ts',
    edits: [
      ['JSONParseError.isInstance(error) || EmptyResponseBodyError.isInstance(error)', 'false'],
    ],
    suite: FAILURES,
    test: 'a failure of the provider of cut JSON is typed',
  },
  {
    defence: 'Provider: waits of many runs are spread',
    file: 'activities/model/retry-budget.ts',
    edits: [[', jitter: 0.5 }', ' }']],
    suite: BUDGET,
    test: 'the budget of tries the budget of tries doubles its waits up to half a minute, by half at random',
  },
  {
    defence: 'Provider: there is a try behind the end of an outage as long as the budget',
    file: 'activities/model/retry-budget.ts',
    edits: [['forMs >= retryForMs) return', 'forMs + LONGEST_WAIT_MS >= retryForMs) return']],
    suite: BUDGET,
    test: 'the budget of tries the budget of tries lasts through an outage of ten minutes, with a try behind its end, and no longer',
  },
  {
    defence: 'Provider: a long wait takes no slot of a worker',
    file: 'activities/model/step-tries.ts',
    edits: [['      if (isLong) throw waitingForProvider(wait);\n', '']],
    suite: STEP,
    test: 'model step a model step frees its slot during a long wait, and counts failures over attempts',
  },
  {
    defence: 'Provider: a run that waits is not stalled',
    file: 'stores/record/stalled.ts',
    edits: [['Math.max(updatedAt, waitsUntil)', 'updatedAt']],
    suite: STEP,
    test: 'model step a model step frees its slot during a long wait, and counts failures over attempts',
  },
  {
    defence: 'Provider: a stop does not wait for a model call that is postponed',
    file: 'stores/transitions/lib/stopping.ts',
    edits: [['isActive && num(waitsUntil) > storeNow()', 'false']],
    test: 'discard a stop ends a run at once after a discard with a wait',
  },
  {
    defence: 'Provider: nor does the workflow of a run that was stopped',
    file: 'workflows/operators.ts',
    edits: [['  state.isEnded ||= isEnded;\n', '']],
    suite: 'test/e2e/provider-outage.test.ts',
    test: 'a run that waits for its provider is visible to every viewer, and stops at once',
  },
  {
    defence: 'Provider: the model that stands in is noted with the failure of the other one',
    file: 'stores/transitions/discard.ts',
    edits: [['if (fallback !== undefined) {', 'if (fallback === -1) {']],
    test: 'discard a discard names the model that attempts at the same step begin with',
  },
  {
    defence: 'Provider: a worker that takes over asks the model that was reached',
    file: 'activities/model/step-tries.ts',
    edits: [['firstTurn(models, claim.fallback)', 'firstTurn(models)']],
    suite: FALLBACK,
    test: 'a model that another one stands in for is not asked again by a worker that takes the step over',
  },
  {
    defence: 'Provider: a model that has left the list is not asked for',
    file: 'activities/model/model-turns.ts',
    edits: [['Math.min(index, models.length - 1)', 'index']],
    suite: 'test/activities/model-turns.test.ts',
    test: 'the turns of models begin with the first, or with the one that an earlier attempt has reached',
  },
  {
    defence: 'Retries: the delay has an end, however many tries fail',
    file: 'protocol/time.ts',
    edits: [
      ['Math.min(firstMs * factor ** (attempt - 1), mostMs)', 'firstMs * factor ** (attempt - 1)'],
    ],
    suite: 'test/protocol/time.test.ts',
    test: 'a retry delay begins with the first one and grows up to the longest, whatever the number of tries',
  },
  {
    defence: 'Retries: those who lost one server do not return in one moment',
    file: 'protocol/time.ts',
    edits: [['delayMs * (1 - jitter + jitter * random())', 'delayMs']],
    suite: 'test/protocol/time.test.ts',
    test: 'a retry delay leaves the given share to chance, and no more',
  },
];
