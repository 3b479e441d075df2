import { createServer } from 'node:net';
import { checkReceivers } from '../../../cli/doctor/check-receivers.js';
import type { Config } from '../../../config/env.js';
import { listen } from '../../support/listen.js';

it('hosts of receivers are connected to, and get nothing; what is wrong is named', async () => {
  let bytes = 0;
  const server = createServer((socket) => socket.on('data', ({ length }) => (bytes += length)));
  const open = `127.0.0.1:${String((await listen(server)).port)}`;
  const slack = (name: string, host: string, privateNetwork = true): object => ({
    name,
    kind: 'slack',
    url: `http://${host}/hook`,
    privateNetwork,
  });
  const receivers = [
    slack('open', open),
    slack('closed', '127.0.0.1:1'),
    slack('inside', open, false),
    slack('unknown', 'name.invalid'),
    { name: 'mail', kind: 'mail', to: 'ann@example.com' },
  ];
  const verdicts = await checkReceivers({
    NOTIFY_RECEIVERS: JSON.stringify(receivers),
    NOTIFY_INCLUDE_INPUT: false,
    SMTP_URL: `smtp://user:secret@${open}`,
    MAIL_FROM: 'desk@example.com',
  } as Config);
  expect(bytes).toBe(0);
  expect(verdicts).toMatchObject([
    { level: 'ok', finding: `open: ${open} can be reached.` },
    { level: 'warn', finding: expect.stringContaining('ECONNREFUSED') },
    { level: 'warn', finding: expect.stringContaining('private network') },
    { level: 'warn', fix: expect.stringContaining('webhook test unknown') },
    { level: 'ok', finding: `mail: ${open} can be reached.` },
  ]);
  expect(JSON.stringify(verdicts)).not.toContain('secret');
});

it('a list that cannot be used is a failure without its secrets', async () => {
  const setting = JSON.stringify([{ name: 'Bad name', kind: 'slack', url: 'https://secret.test' }]);
  expect(await checkReceivers({ NOTIFY_RECEIVERS: setting } as Config)).toMatchObject([
    { level: 'fail', finding: expect.stringMatching(/^Receiver 0\.name: (?!.*secret)/) },
  ]);
  expect(await checkReceivers({} as Config)).toEqual([]);
});
