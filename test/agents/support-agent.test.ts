import { playResearch, playTurn, readAgent } from './support-turns.js';
import { resolveModel } from '../../agents/index.js';
import { toWish } from '../../examples/support/wish.js';
import { toSupportReply } from '../../examples/support/support-reply.js';
import { fromUser, readParts, toDeltas } from './streams.js';

const agent = readAgent();

describe('the support agent without a key', () => {
  it('the support agent streams word by word, at a readable pace', async () => {
    const prompt = fromUser('Hello!');
    const start = performance.now();
    const words = toDeltas(await readParts(resolveModel(agent.llmConfig.model), { prompt }));
    expect(words).toEqual(toSupportReply({ prompt }).pieces);
    expect(performance.now() - start).toBeGreaterThan(words.length * 20);
  });

  it('the support agent greets, and lists what it can do', async () => {
    const { text, calls } = await playTurn([], 'Hello!');
    expect(calls).toEqual([]);
    expect(text).toContain('refund');
  });

  it('the support agent looks up an order and answers', async () => {
    const { text, calls } = await playTurn([], 'Where is my order #1043?');
    expect(calls).toEqual([{ name: 'lookupOrder', input: { orderId: '1043' } }]);
    expect(text).toContain('in transit');
  });

  it('the support agent reports an unknown order', async () => {
    expect((await playTurn([], 'order 9999 please')).text).toContain('9999');
  });

  it('the support agent asks for a refund after looking up the order, and reports the outcome', async () => {
    const wish = 'I want a refund of $20 for order 1042, it arrived cracked';
    const approved = await playTurn([], wish);
    expect(approved.calls).toEqual([
      { name: 'lookupOrder', input: { orderId: '1042' } },
      { name: 'refund', input: { orderId: '1042', amount: 20, reason: wish } },
    ]);
    expect(approved.text).toContain('$20.00');
    expect(approved.text).toMatch(/R-[0-9A-F]{8}/);
    const denied = await playTurn([], wish, { refund: 'deny' });
    expect(denied.text).toContain('Too late.');
  });

  it('the support agent reports the amount that a colleague changed, and names the colleague', async () => {
    const wish = 'I want a refund of $20 for order 1042';
    const { text } = await playTurn([], wish, { refund: { amount: 12.5, by: 'nina' } });
    expect(text).toContain('nina changed the amount; I had asked for $20.00.');
    expect(text).toContain('$12.50 for order 1042');
    const tooMuch = await playTurn([], wish, { refund: { amount: 500, by: 'nina' } });
    expect(tooMuch.text).toContain('cost only $48.50');
  });

  it.each([
    ['replacement', ['sendReplacement'], /P-[0-9A-F]{8}/],
    ['refund', ['refund'], /\$48\.50 for order 1042/],
    ['keep', ['refund'], /\$14\.55 for order 1042/],
    [undefined, [], /You have not chosen/],
  ])(
    'the support agent lets the customer choose the compensation for a damaged item: %s',
    async (chosen, then, text) => {
      const turn = await playTurn([], 'My order 1042 arrived broken', { chosen });
      expect(turn.calls.map(({ name }) => name)).toEqual(['lookupOrder', 'askCustomer', ...then]);
      expect(turn.text).toMatch(text);
    },
  );

  it('the support agent does not replace an item that is still in transit', async () => {
    const { calls, text } = await playTurn([], 'Is order 1043 broken?');
    expect(calls.map(({ name }) => name)).toEqual(['lookupOrder']);
    expect(text).toContain('in transit');
  });

  it('the support agent has a researcher recommend a product', async () => {
    const { calls, text } = await playTurn([], 'Can you recommend a gift for coffee lovers?');
    expect(calls.map(({ name }) => name)).toEqual(['research']);
    expect(text).toContain('recommends this one: Ceramic pour-over coffee set, for $48.50.');
    const nothing = await playTurn([], 'Can you recommend a submarine?');
    expect(nothing.text).toContain('found nothing that fits');
  });

  it('the support agent never asks for more than was paid', async () => {
    const { calls } = await playTurn([], 'refund me $500 for 1042');
    expect(calls[1]?.input).toMatchObject({ amount: 48.5 });
  });

  it('the support agent asks for the order number, and accepts it as the answer', async () => {
    const asked = await playTurn([], 'I want my money back');
    expect(asked.calls).toEqual([]);
    expect(asked.text).toContain('number');
    const { calls } = await playTurn(asked.prompt, 'it is 1042');
    expect(calls.map(({ name }) => name)).toEqual(['lookupOrder', 'refund']);
  });

  it('the support agent remembers the order of the conversation', async () => {
    const first = await playTurn([], 'What about 1042?');
    const { calls } = await playTurn(first.prompt, 'Then I would like a refund.');
    expect(calls[1]?.input).toMatchObject({ orderId: '1042', amount: 48.5 });
  });

  it('the support agent answers from the help centre, or reports that it cannot', async () => {
    const found = await playTurn([], 'How long does shipping take?');
    expect(found.calls[0]?.name).toBe('searchArticles');
    expect(found.text).toContain('Delivery times');
    expect((await playTurn([], 'Who won the match?')).text).toContain('found nothing');
  });
});

it('the researcher reads the reviews of the best two at once, and recommends one of them', async () => {
  const { calls, finding } = await playResearch('A gift for a coffee lover, at most $40');
  expect(calls).toEqual([
    { name: 'searchProducts', input: expect.objectContaining({ max: 40 }) },
    { name: 'readReviews', input: { productId: 'moka-pot' } },
    { name: 'readReviews', input: { productId: 'skillet' } },
  ]);
  expect(finding.recommended).toEqual({ name: 'Cast-iron skillet', price: 39.9 });
  expect(finding.why).toContain('4.5 of 5');
  expect(finding.alternatives).toEqual(['Steel moka pot']);
});

it.each([
  ['hi there', { kind: 'greeting' }],
  ['', { kind: 'greeting' }],
  ['Thanks a lot', { kind: 'thanks' }],
  ['Where is my parcel?', { kind: 'order', orderId: undefined }],
  ['it cost $1299, why?', { kind: 'question' }],
  ['1299 dollars is too much', { kind: 'question' }],
  ['refund 12.50 euros for 1042.', { kind: 'refund', orderId: '1042', amount: 12.5 }],
  ['hi, how do returns work?', { kind: 'question' }],
  ['1042 is cracked', { kind: 'problem', orderId: '1042' }],
  ['What if something is broken?', { kind: 'question' }],
  ['I am looking for a present', { kind: 'advice' }],
])('toWish parses %j', (text, wish) => {
  expect(toWish([text])).toEqual(wish);
});
