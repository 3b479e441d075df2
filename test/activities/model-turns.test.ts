import { allFailed, firstTurn, modelsOf, nextTry } from '../../activities/model/fallback.js';
import type { LlmConfig } from '../../agents/llm-settings.js';
import type { ProviderFailure } from '../../activities/model/provider-failure.js';

const overloaded = { code: 'provider_overloaded', message: '', retryable: true };
const refused = { code: 'provider_unauthorized', message: '', retryable: false };
const hook = { code: 'context_hook_failed', message: '', retryable: false };

const config = (...tries: (number | undefined)[]): LlmConfig => ({
  model: 'a',
  models: tries.map((maxTries, at) => ({
    model: 'abc'[at] ?? '',
    ...(maxTries !== undefined && { maxTries }),
  })),
});

const next = (
  llm: LlmConfig,
  failure: ProviderFailure,
  failures: number,
  reached?: { index: number; before: number },
): unknown =>
  nextTry(llm, firstTurn(modelsOf(llm), reached), failure, { failures, forMs: 0 }, () => 0);

describe('the turns of models', () => {
  it('begin with the first, or with the one that an earlier attempt has reached', () => {
    const models = modelsOf(config(undefined, 3, undefined));
    expect(firstTurn(models)).toEqual({ index: 0, before: 0 });
    expect(firstTurn(models, { index: 2, before: 4 })).toEqual({ index: 2, before: 4 });
    // A release has shortened the list.
    expect(firstTurn(modelsOf({ model: 'a' }), { index: 2, before: 4 })).toMatchObject({
      index: 0,
    });
  });

  it('one that may recover is asked again, then the next one at once', () => {
    const llm = config(2, 1);
    expect(next(llm, overloaded, 1)).toMatchObject({ kind: 'wait' });
    expect(next(llm, overloaded, 2)).toEqual({ kind: 'next', turn: { index: 1, before: 2 } });
    expect(next(llm, overloaded, 3, { index: 1, before: 2 })).toBe('failed');
  });

  it('one that refuses, or wants to be left alone for long, is not asked again', () => {
    const llm = config(5, undefined);
    const turn = { index: 1, before: 1 };
    expect(next(llm, refused, 1)).toEqual({ kind: 'next', turn });
    expect(next(llm, { ...overloaded, retryAfterMs: 30_000 }, 1)).toEqual({ kind: 'next', turn });
    expect(next(llm, refused, 2, turn)).toBe('failed');
    // The last one is waited for as an only one is.
    expect(next(llm, { ...overloaded, retryAfterMs: 30_000 }, 2, turn)).toMatchObject({
      ms: 30_000,
    });
  });

  it('a failure that is not a model’s ends the step', () => {
    expect(next(config(2, 2), hook, 1)).toBe('failed');
    expect(allFailed(modelsOf(config(2, 2)), hook)).toBe(hook);
    expect(allFailed(modelsOf(config(2, 2)), refused)).toMatchObject({ code: 'models_failed' });
    expect(allFailed(modelsOf({ model: 'a' }), refused)).toBe(refused);
  });

  it('all of them stay within the limits of the step', () => {
    expect(next({ ...config(5, 5), maxTries: 2 }, overloaded, 2)).toBe('failed');
    const late = { failures: 1, forMs: 700_000 };
    expect(nextTry(config(1, 1), { index: 0, before: 0 }, overloaded, late)).toBe('failed');
  });
});
