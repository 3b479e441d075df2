import { Writable } from 'node:stream';
import { ApplicationFailure } from '@temporalio/common';
import pino from 'pino';
import { outageLines } from '../../config/logger.js';
import { HelixError } from '../../protocol/errors.js';

/** Opens a logger of this project, with its lines and its clock. */
function open() {
  const lines: Record<string, unknown>[] = [];
  const into = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().trim().split('\n')) {
        lines.push(JSON.parse(line) as Record<string, unknown>);
      }
      done();
    },
  });
  const clock = { ms: 0 };
  const logger = pino({ ...outageLines(() => clock.ms) }, into);
  return { logger, lines, clock };
}

const refused = (command: string): HelixError =>
  new HelixError(
    'unavailable',
    `The conversation store refuses this server: its Redis user may not use ${command}.`,
    { cause: new Error(`NOPERM this user has no permissions to run the '${command}' command`) },
  );

it('refused commands are a line with the sentence, without a stack trace, once a minute', () => {
  const { logger, lines, clock } = open();
  for (let at = 0; at < 1_000; at += 1) {
    logger.warn({ err: refused('XADD'), runId: String(at) }, 'Activity failed');
  }
  logger.warn({ err: refused('SET') }, 'Activity failed');
  clock.ms = 61_000;
  logger.warn({ err: refused('XADD') }, 'Activity failed');
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatchObject({
    msg: 'Activity failed',
    runId: '0',
    err: { code: 'unavailable', message: expect.stringContaining('may not use XADD') },
  });
  expect(lines[2]).toMatchObject({ repeated: 999 });
  for (let at = 0; at < 10; at += 1) {
    const away = ApplicationFailure.retryable('the store does not answer', 'StoreUnreachable');
    logger.warn({ err: away }, 'Activity failed');
  }
  expect(lines).toHaveLength(4);
  expect(lines[3]).toMatchObject({ err: { code: 'StoreUnreachable' } });
  expect(JSON.stringify(lines)).not.toMatch(/\bat .*\.ts/);
});

it('other errors keep their stack trace, and each has its line', () => {
  const { logger, lines } = open();
  for (let at = 0; at < 3; at += 1) logger.warn({ err: new TypeError('a fault') }, 'sweep failed');
  logger.warn({ err: 'text' }, 'closing');
  logger.info('plain');
  logger.info({ audit: {} }, 'audit');
  expect(lines).toHaveLength(6);
  expect(lines[0]).toMatchObject({ err: { type: 'TypeError', stack: expect.any(String) } });
  expect(lines[3]).toMatchObject({ err: 'text', msg: 'closing' });
});

it('each tenant has its line, and a warning does not take the place of an error', () => {
  const { logger, lines } = open();
  for (const tenant of ['one', 'two', 'one', undefined]) {
    logger.warn({ err: refused('XADD'), tenant }, 'audit entries wait');
  }
  logger.error({ err: refused('XADD') }, 'audit entries wait');
  expect(lines.map(({ tenant, level }) => [tenant, level])).toEqual([
    ['one', 40],
    ['two', 40],
    [undefined, 40],
    [undefined, 50],
  ]);
});
