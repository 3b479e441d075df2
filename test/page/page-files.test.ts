import { findBarriers } from '../support/axe.js';
import { toScript } from '../support/chat-client.js';
import { openPage, type ChatPage } from '../support/page-driver.js';
import { useLocalProduct } from '../support/local-product.js';
import { until } from '../support/until.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const product = useLocalProduct();

const stateOf = (chat: ChatPage, at: number): Promise<string | null> =>
  chat.at('attachment').nth(at).getAttribute('data-state');

it('the page adds, removes and sends files, and shows them after a reload', async () => {
  const chat = await openPage(product.url);
  await chat.at('file-input').setInputFiles([
    { name: 'dot.png', mimeType: 'image/png', buffer: PNG },
    { name: 'no.zip', mimeType: 'application/zip', buffer: PNG },
  ]);
  await until('one is stored', async () => (await stateOf(chat, 0)) === 'ready');
  expect(await stateOf(chat, 1)).toBe('Files of this kind are not taken.');
  expect(await findBarriers(chat.page)).toEqual([]);
  await chat.at('composer').fill(toScript({ quote: true }).text);
  expect(await chat.at('send').isDisabled()).toBe(true);
  await chat.page.getByRole('button', { name: 'Remove no.zip' }).press('Enter');
  await chat.click('send');
  await chat.untilReplyHas(`image/png, ${String(PNG.length)} bytes`);
  await chat.untilStatus('ready');
  expect(await chat.at('attachment').count()).toBe(0);
  await chat.page.reload();
  const image = chat.page.getByRole('img', { name: 'dot.png' });
  await until('the image is drawn', () =>
    image.evaluate((shown) => (shown as HTMLImageElement).naturalWidth === 1).catch(() => false),
  );
  await chat.leave();
});

it('the page takes files that are pasted and dropped', async () => {
  const chat = await openPage(product.url);
  for (const kind of ['paste', 'drop']) {
    await chat.at('composer').evaluate((box, type) => {
      const data = new DataTransfer();
      data.items.add(new File(['Some text.'], `${type}.txt`, { type: 'text/plain' }));
      const event =
        type === 'paste'
          ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true })
          : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
      box.dispatchEvent(event);
    }, kind);
  }
  await until('both are stored', async () => (await stateOf(chat, 1)) === 'ready');
  await chat.at('composer').fill(toScript({ quote: true }).text);
  await chat.click('send');
  // The backslashes are shown only until the code that shows Markdown is loaded.
  await until('the model has read the file', async () =>
    /\[File \\?"drop\.txt\\?"\]/.test((await chat.replies()).at(-1) ?? ''),
  );
  await chat.untilStatus('ready');
  await chat.leave();
});
