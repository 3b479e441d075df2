import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { post, readRetryAfter } from '../../../extensions/notify/post.js';
import { createSender } from '../../../extensions/notify/sender.js';
import { toNotifySettings } from '../../../extensions/notify/settings.js';
import { listen } from '../../support/listen.js';
import { startReceiver, type NoticeReceiver } from '../../support/notice-receiver.js';

let receiver: NoticeReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
const send = (url = receiver.url, privateNetwork = true): Promise<void> =>
  post(url, { body: '{"data":{"of":"Zoë"}}', privateNetwork });

it('an address of a private network is refused before anything is sent, unless it is permitted', async () => {
  const { port } = new URL(receiver.url);
  const addresses = [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '[fd00::1]',
    '[fe80::1]',
    '100.64.0.1',
  ];
  for (const host of addresses) {
    const sent = send(`http://${host}:${port}/hook`, false);
    await expect(sent).rejects.toMatchObject({ code: 'address_refused', isFinal: true });
  }
  expect(receiver.attempts).toBe(0);
  await send();
  expect(receiver.taken).toMatchObject([{ data: { of: 'Zoë' } }]);
});

it('a redirect is not followed', async () => {
  const other = await startReceiver();
  receiver.answer = () => ({ status: 307, headers: { location: other.url } });
  await expect(send()).rejects.toMatchObject({ code: 'redirect_refused', isFinal: false });
  expect(other.attempts).toBe(0);
});

it('an answer decides whether another attempt is of use, and when', async () => {
  receiver.answer = () => ({ status: 503, headers: { 'retry-after': '7' } });
  await expect(send()).rejects.toMatchObject({
    code: 'http_503',
    retryAfterMs: 7_000,
    isFinal: false,
  });
  // A page that is being deployed is away for a moment, one that is gone is not.
  receiver.answer = () => ({ status: 404 });
  await expect(send()).rejects.toMatchObject({ code: 'http_404', isFinal: false });
  receiver.answer = () => ({ status: 410 });
  await expect(send()).rejects.toMatchObject({ code: 'http_410', isFinal: true });
  expect(readRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 0)).toBe(60_000);
  for (const odd of ['-1', 'soon', '', undefined]) expect(readRetryAfter(odd, 0)).toBeUndefined();
  expect(readRetryAfter('99999999999', 0)).toBe(36_000_000);
});

it('of an answer without end no more than its beginning is read, and its status counts', async () => {
  let written = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/plain' });
    const piece = 'x'.repeat(64 * 1024);
    const write = (): void => {
      do written += piece.length;
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', write).on('error', () => undefined);
    write();
  });
  await send(`${(await listen(server)).url}/hook`);
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

it('the status of an answer counts although its end does not come in time', async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200).write('taken');
  });
  const { url } = await listen(server);
  const over = new AbortController();
  const sent = post(`${url}/hook`, { body: '{}', privateNetwork: true, signal: over.signal });
  await once(server, 'request');
  await sleep(100);
  over.abort();
  await sent;
});

it('a receiver that hangs is left when the attempt is cancelled', async () => {
  receiver.answer = () => undefined;
  const over = new AbortController();
  const sent = post(receiver.url, { body: '{}', privateNetwork: true, signal: over.signal });
  over.abort();
  await expect(sent).rejects.toMatchObject({ code: 'unreachable' });
});

it('one person gets no more in an hour than the settings say', async () => {
  const ops = { name: 'ops', kind: 'slack' as const, url: receiver.url, privateNetwork: true };
  const { send } = createSender(toNotifySettings({ receivers: [ops], perHour: 1 }));
  const notice = { id: 'msg_1', type: 'run.failed', at: 0 } as const;
  const whose = { tenant: '', owner: 'ann', kind: notice.type };
  // No later attempt reaches a receiver that the settings no longer have.
  const gone = { code: 'unknown_receiver', isFinal: true };
  await expect(send('gone', async () => ({ notice }), whose)).rejects.toMatchObject(gone);
  const fail = (): Promise<never> => Promise.reject(new Error('away'));
  await expect(send('ops', fail, { ...whose, owner: 'bob' })).rejects.toThrow('away');
  const sendToAnn = (): Promise<void> => send('ops', async () => ({ notice }), whose);
  await sendToAnn();
  const later = Date.now() + 120_000;
  jest.spyOn(Date, 'now').mockImplementation(() => later);
  await expect(sendToAnn()).rejects.toMatchObject({ code: 'busy' });
  expect(receiver.attempts).toBe(1);
});
