import { createOpenAI } from '@ai-sdk/openai';
import { createAnthropic } from '@ai-sdk/anthropic';
import { serverOf } from '../../activities/model/spans.js';

it('a model names the server that it calls, if it knows one', () => {
  const openai = createOpenAI({ apiKey: 'k', baseURL: 'http://proxy.test:8080/v1' });
  expect(serverOf(openai('m'))).toEqual({ address: 'proxy.test', port: 8080 });
  expect(serverOf(createAnthropic({ apiKey: 'k' })('m'))).toEqual({
    address: 'api.anthropic.com',
    port: 443,
  });
  expect(serverOf({})).toBeUndefined();
  expect(serverOf({ config: { url: () => 'nowhere' } })).toBeUndefined();
});
