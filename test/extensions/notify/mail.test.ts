import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { createSender } from '../../../extensions/notify/sender.js';
import { toNotifySettings } from '../../../extensions/notify/settings.js';
import { listen, type Listening } from '../../support/listen.js';

let server: Listening;
let url: string;
/** Lines that the server received. */
let lines: string[];
/** A command's first letters, and the server's reply to it. */
let refusal: readonly [string, string] | undefined;

/** Starts a mail server with as much SMTP as one message needs. */
beforeEach(async () => {
  [lines, refusal] = [[], undefined];
  const mail = createServer((socket) => {
    let isText = false;
    socket.on('error', () => undefined);
    const say = (text: string): void => {
      socket.write(`${text}\r\n`);
    };
    say(refusal?.[0] === 'greeting' ? refusal[1] : '220 test');
    createInterface({ input: socket }).on('line', (line) => {
      lines.push(line);
      if (isText) {
        if (line !== '.') return;
        isText = false;
        say(refusal?.[0] === line ? refusal[1] : '250 taken');
      } else if (refusal !== undefined && line.startsWith(refusal[0])) say(refusal[1]);
      else if (line.startsWith('EHLO')) say('250-test\r\n250 AUTH PLAIN');
      else if (line === 'DATA') {
        isText = true;
        say('354 go');
      } else if (line === 'QUIT') socket.end('221 bye\r\n');
      else say('250 ok');
    });
  });
  server = await listen(mail);
  url = `smtp://127.0.0.1:${String(server.port)}`;
});

const NOBODY = { tenant: '', kind: 'test' };

const send = async (): Promise<void> => {
  const sender = createSender(
    toNotifySettings({
      receivers: [{ name: 'ann', kind: 'mail', to: 'ann@example.com' }],
      mail: { url, from: 'Agents <agents@example.com>' },
    }),
  );
  const toolName = 'refund\r\nBcc: all@example.com';
  const notice = {
    id: 'msg_1',
    type: 'approval.requested',
    at: 1,
    agent: 'desk',
    toolName,
  } as const;
  await sender
    .send('ann', async () => ({ notice, url: 'https://chat.test/?session=s' }), NOBODY)
    .finally(sender.close);
};

it('a notice is one mail to one person, with an id that stays and no header of others', async () => {
  await send();
  const text = lines.join('\n');
  expect(lines.filter((line) => line.startsWith('RCPT'))).toEqual(['RCPT TO:<ann@example.com>']);
  expect(text).toMatch(/^Message-ID: <msg_1@helix-temporal>$/m);
  // So no one's notice of absence answers it.
  expect(text).toMatch(/^Auto-Submitted: auto-generated$/m);
  expect(text).toMatch(/^Subject: Desk asks for approval: Refund/m);
  expect(text).toContain('https://chat.test/?session=');
  expect(text.slice(0, text.indexOf('\n\n'))).not.toMatch(/^Bcc:/m);
});

it.each([
  ['RCPT', '451 later', false],
  ['.', '452 no room', false],
  ['greeting', '554 under repair', false],
  ['RCPT', '550 no such person', true],
  ['MAIL', '553 not from you', true],
  ['.', '554 refused', true],
])(
  'of a mail server that refuses %s with %s, the refusal is final: %j',
  async (at, reply, isFinal) => {
    refusal = [at, reply];
    const status = reply.slice(0, 3);
    const message = `The mail server answered ${status}.`;
    await expect(send()).rejects.toMatchObject({ code: `smtp_${status}`, isFinal, message });
  },
);

it('a mail server that refuses the password is asked again later, perhaps with another', async () => {
  refusal = ['AUTH', '535 wrong password'];
  url = url.replace('//', '//ann:old@');
  await expect(send()).rejects.toMatchObject({ code: 'smtp_535', isFinal: false });
});

it('a mail server that is away is asked again later', async () => {
  await server.close();
  await expect(send()).rejects.toMatchObject({ code: 'smtp', isFinal: false });
});

it('a mail server gets the name and password of its address as they are', async () => {
  url = url.replace('//', '//ann%40b:p%3Aw@');
  await send();
  const login = Buffer.from('\0ann@b\0p:w').toString('base64');
  expect(lines).toContain(`AUTH PLAIN ${login}`);
});

it('closing after mail could not be set up throws nothing', async () => {
  const refused: unknown[] = [];
  const note = (error: unknown): number => refused.push(error);
  process.on('unhandledRejection', note);
  const sender = createSender({
    ...toNotifySettings({
      receivers: [{ name: 'ann', kind: 'mail', to: 'ann@example.com' }],
      mail: { url, from: 'helix@example.com' },
    }),
    mail: { url: 'no address', from: 'helix@example.com' },
  });
  const notice = { id: 'msg_1', type: 'test', at: 1 } as const;
  await expect(
    sender.send('ann', async () => ({ notice, url: undefined }), NOBODY),
  ).rejects.toThrow();
  sender.close();
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  process.off('unhandledRejection', note);
  expect(refused).toEqual([]);
});
