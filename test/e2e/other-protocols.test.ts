import { askByAgUi } from '../../examples/other-protocols/ag-ui.js';
import { askByOpenAI } from '../../examples/other-protocols/openai.js';
import { newSessionId, useProduct } from '../support/product.js';

const product = useProduct();
const QUESTION = 'I want a refund for order 1042 please';

it('the example of AG-UI asks, approves and gets the answer', async () => {
  expect(await askByAgUi(product.url, newSessionId(), QUESTION)).toMatch(/refund/i);
});

it('the example of OpenAI asks, approves and gets the answer', async () => {
  const asked: string[] = [];
  const text = await askByOpenAI(product.url, 'none', QUESTION, ({ name }) => {
    asked.push(name);
    return true;
  });
  expect(asked).toEqual(['refund']);
  expect(text).toMatch(/refund/i);
});
