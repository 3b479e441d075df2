import { createAnswerNotes } from '../../activities/model/timing.js';

it('of what a provider reports beyond its reply, only what is small is kept', () => {
  const notes = createAnswerNotes();
  expect(notes.read()).toBeUndefined();
  notes.begins({ provider: 'p', modelId: 'm' });
  notes.hear({ type: 'response-metadata', id: 'x'.repeat(2_000) });
  const logprobs = 'x'.repeat(20_000);
  const usage = { inputTokens: {}, outputTokens: {} } as never;
  notes.hear({
    type: 'finish',
    usage,
    finishReason: { unified: 'stop', raw: 'x'.repeat(2_000) },
    providerMetadata: { p: { logprobs } },
  });
  expect(notes.read()).toEqual({
    provider: 'p',
    modelId: 'm',
    at: expect.any(Number),
    ms: expect.any(Number),
  });
});

it('what a model reports in forms of its own is left out', () => {
  const notes = createAnswerNotes();
  notes.begins({ provider: 'p', modelId: 'm' });
  for (const part of [
    { type: 'stream-start' },
    { type: 'stream-start', warnings: 'none' },
    { type: 'response-metadata', id: 7, timestamp: '2026-01-01' },
    { type: 'response-metadata', timestamp: new Date(NaN) },
  ]) {
    notes.hear(part as never);
  }
  expect(notes.read()).toEqual({ provider: 'p', modelId: 'm', at: expect.any(Number) });
  expect(notes.read()?.at).toBeGreaterThan(0);
});
