import { describe, expect, it } from '@jest/globals';
import { breakSilence } from '../../web/src/break-silence.js';
import { deferred } from './deferred.js';

const EVENTS = { headers: { 'content-type': 'text/event-stream' } };

describe('breakSilence', () => {
  it('passes a stream that speaks and ends', async () => {
    const response = breakSilence(new Response('data: {}\n\n', EVENTS), 60_000);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await response.text()).toBe('data: {}\n\n');
  });

  it('breaks a stream that fell silent, and lets go of it', async () => {
    const gone = deferred();
    const silent = new ReadableStream<Uint8Array>({ cancel: gone.resolve });
    const response = breakSilence(new Response(silent, EVENTS), 1);
    // The client counts a TypeError that speaks of the network as a disconnect.
    await expect(response.text()).rejects.toThrow(/^network error/);
    await gone.promise;
  });

  it('leaves other replies alone', () => {
    const refusal = Response.json({ error: 'no' }, { status: 503 });
    expect(breakSilence(refusal, 1)).toBe(refusal);
  });
});
