import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonOf, toMessage } from '../../store/redis/entries.js';
import { loadSnapshot, toScript } from '../support/chat-client.js';
import { newSessionId, useProduct } from '../support/product.js';
import { postMessage } from '../support/sse-reader.js';
import { until } from '../support/until.js';

const AOF = 'appendonlydir';

const product = useProduct({});
const backup = mkdtempSync(join(tmpdir(), 'helix-backup-'));
afterAll(() => {
  rmSync(backup, { recursive: true, force: true });
});

/** Copies Redis's files, including all acknowledged commands. */
function backUp(): void {
  cpSync(join(product.redisServer.folder, AOF), join(backup, AOF), { recursive: true });
}

/** Restores Redis as an operator would after losing a disk: old file, same address. */
async function restore(): Promise<void> {
  const folder = join(product.redisServer.folder, AOF);
  await product.redisServer.kill9();
  rmSync(folder, { recursive: true });
  cpSync(join(backup, AOF), folder, { recursive: true });
  await product.redisServer.restart();
}

describe('a Redis that came back older, in the middle of a reply', () => {
  it('an older Redis cuts readers, the run ends as lost without writing over the gap, and the next message is accepted', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const words = 'one two three four five six seven eight nine ten '.repeat(40);
    const message = { id: 'u1', text: toScript({ say: words, deltas: 400, everyMs: 25 }).text };
    const reader = await postMessage(url, sessionId, message);
    await until('some of the reply has come', () => reader.text().length > 100);
    backUp();
    const atBackup = reader.text();
    await until('more of it has come', () => reader.text().length > atBackup.length + 200);
    await restore();

    expect(await reader.done).toBe('broken off');
    const lost = await until(
      'the run is over',
      async () => {
        // The API replies 503 until it has found Redis again.
        const snapshot = await loadSnapshot(url, sessionId).catch(() => undefined);
        return snapshot?.status === 'failed' && snapshot;
      },
      30_000,
    );
    const entries = await product.redis.xrange(`hx:{${sessionId}}:stream`, '-', '+');
    const text = entries
      .map(([, fields]) => toMessage(JSON.parse(jsonOf(fields)), sessionId))
      .map((message) => (message?.type === 'text_delta' ? message.delta : ''))
      .join('');
    // The remaining text is a prefix of the reply: no text follows the gap.
    expect(words.startsWith(text)).toBe(true);
    expect(text.length).toBeLessThan(reader.text().length);
    expect(entries.at(-2)?.[1][3]).toContain('state_lost');
    const lastShown = lost.streamSequence;
    expect(lastShown).toBeGreaterThan(entries.length);

    const next = await postMessage(url, sessionId, {
      id: 'u2',
      text: toScript({ say: 'Here again.' }).text,
    });
    expect(await next.done).toBe('ended');
    expect(next.text()).toBe('Here again.');
  }, 90_000);
});
