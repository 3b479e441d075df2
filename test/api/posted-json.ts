import { createFakeRuntime, type FakeRuntime } from '../support/fake-runtime.js';

export const MB = 1024 * 1024;

/** An agent that greets, whose run ends at once. */
export function createGreeter(): FakeRuntime {
  return createFakeRuntime(async (session) => {
    session.step();
    session.say('Hello.');
    session.commit();
    session.end();
    await Promise.resolve();
  });
}

/** The head of a request that posts JSON. */
export const head = (...lines: string[]): string =>
  [
    'POST /api/chat/s1 HTTP/1.1',
    'host: test',
    'content-type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n');
