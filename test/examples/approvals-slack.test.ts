import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReceiver, type NoticeReceiver } from '../support/notice-receiver.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { until } from '../support/until.js';

const RECEIVERS = new URL('../../examples/approvals-slack/receivers.json', import.meta.url);

interface SlackMessage {
  text: string;
  blocks: { type: string; elements?: { text: { text: string }; url: string }[] }[];
}

let channels: Map<string, NoticeReceiver>;
let product: Product;
let folder: string;

/** Starts the example with its own settings, and with this test's servers in place of Slack's. */
beforeAll(async () => {
  const receivers = JSON.parse(readFileSync(RECEIVERS, 'utf8')) as { name: string }[];
  channels = new Map(
    await Promise.all(receivers.map(async ({ name }) => [name, await startReceiver()] as const)),
  );
  folder = mkdtempSync(join(tmpdir(), 'helix-slack-'));
  const file = join(folder, 'receivers.json');
  const here = receivers.map((each) => ({
    ...each,
    url: channels.get(each.name)?.url,
    privateNetwork: true,
  }));
  writeFileSync(file, JSON.stringify(here));
  product = await startProduct({
    env: {
      NOTIFY_RECEIVERS: `@${file}`,
      NOTIFY_REMIND_AFTER: 'none',
      NOTIFY_ESCALATE_AFTER: '2s',
      PUBLIC_URL: 'https://chat.test',
    },
  });
}, 120_000);
afterAll(async () => {
  await product.stop();
  for (const channel of channels.values()) await channel.close();
  rmSync(folder, { recursive: true });
});

const messagesOf = (name: string): SlackMessage[] =>
  (channels.get(name)?.taken ?? []).map(({ body }) => JSON.parse(body) as SlackMessage);

it('a refund that waits is shown in the channel, and to those on call if no answer comes', async () => {
  const sessionId = newSessionId();
  const response = await postJson(`${product.url}/api/chat/${sessionId}?agent=support`, {
    message: { id: 'u1', role: 'user', content: 'I want a refund of $20 for order 1042.' },
  });
  await response.text();
  const [message] = await until('the channel hears of it', async () => {
    const all = messagesOf('desk');
    return all.length > 0 && all;
  });
  expect(message?.text).toMatch(/Support asks for approval: Refund an order/);
  expect(message?.blocks.at(-1)).toMatchObject({
    type: 'actions',
    elements: [
      {
        type: 'button',
        text: { type: 'plain_text', text: 'Open question' },
        url: `https://chat.test/console/waiting/${sessionId}`,
      },
    ],
  });
  await until('those on call hear of it', async () => messagesOf('on-call').length === 1);
  expect(messagesOf('on-call')[0]?.text).toMatch(/Support has no answer yet/);
  expect(messagesOf('desk')).toHaveLength(1);
});
