import { createReader } from '../../bench/soak/page.js';

const read = (...parts: object[]): Promise<boolean> => {
  const text = parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('');
  return createReader(() => undefined).read(new Response(text));
};
const START = { type: 'start', messageId: 'msg-1' };
const TEXT = { type: 'text-delta', id: 't', delta: 'word ' };

it('a reader has seen a turn to its end only when its response ends with the run', async () => {
  await expect(read(START, TEXT, { type: 'finish', finishReason: 'stop' })).resolves.toBe(true);
  await expect(read(START, TEXT, { type: 'finish', finishReason: 'other' })).resolves.toBe(true);
});

it('a reader has not seen a paused turn to its end, since its question may expire unseen', async () => {
  await expect(read(START, TEXT, { type: 'finish', finishReason: 'tool-calls' })).resolves.toBe(
    false,
  );
});

it('a reader has not seen a response that was cut to its end', async () => {
  await expect(read(START, TEXT)).resolves.toBe(false);
});
