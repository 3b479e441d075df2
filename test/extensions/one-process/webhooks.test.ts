import { z } from 'zod';
import { defineAgent, defineTool, type ToolConfig } from '../../../agents/index.js';
import { createAnswers } from '../../../runs/record/answers.js';
import { createTestRuntime, type TestRuntime } from '../../../testing/index.js';

const HOUR = 3_600_000;
const Sent = z.object({ code: z.string() });
type Hooked = ToolConfig<z.ZodObject, typeof Sent>;

const runtimes: TestRuntime[] = [];
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.close();
});

/** Begins a conversation whose model calls the tool once; `extra` sets what its webhook accepts. */
async function begin(extra: Partial<Hooked> = {}, urls: string[] = []) {
  const tool = defineTool({
    name: 'transfer',
    description: 'Transfers.',
    inputSchema: z.object({}),
    outputSchema: Sent,
    deadlineMs: HOUR,
    execute: 'webhook',
    send: (url, _, { emit, updateState }) => {
      urls.push(url);
      updateState<{ asked: number }>((state) => {
        state.asked += 1;
      });
      return emit('asked', {});
    },
    ...extra,
  });
  const agent = defineAgent({
    name: 'bank',
    systemPrompt: 'Help.',
    tools: [tool],
    stateSchema: z.object({ asked: z.number().default(0) }),
    llmConfig: { model: 'openai/gpt-5' },
  });
  const calls = [{ tool: 'transfer', args: {}, id: 'c1' }];
  const runtime = await createTestRuntime({
    agents: [agent],
    models: { bank: [{ calls }, { say: 'done' }] },
  });
  runtimes.push(runtime);
  const run = await runtime.run('bank', 'go');
  const { callWebhook } = runtime.executor.runs;
  const token = () => urls.at(-1)?.split('/').at(-1) ?? '';
  return {
    runtime,
    run,
    urls,
    token,
    post: (payload: unknown, at = token()) => callWebhook(at, payload),
  };
}

const coded = (code: string) => expect.objectContaining({ code }) as unknown;

describe('a tool that a webhook answers', () => {
  it('gets the first request that fits as its result, with what it emitted and changed', async () => {
    const { run, post, urls } = await begin();
    run.expectStatus('suspended_client_tool');
    expect(run.pending).toEqual([]);
    await expect(post({ code: 5 })).rejects.toEqual(coded('invalid_result'));
    await post({ code: 'first', more: 1 });
    await post({ code: 'second' });
    const ended = await run.next();
    await ended.expectCalls([{ tool: 'transfer', output: { code: 'first' } }]);
    await post({ code: 'third' });
    expect(urls).toHaveLength(1);
    await ended.expectState({ asked: 1 });
  });

  it('is not found by a wrong token, nor by that of another conversation or tenant', async () => {
    const { run, post, token } = await begin();
    const other = await begin();
    const parts = JSON.parse(Buffer.from(token(), 'base64url').toString()) as string[];
    const [session = '', call = '', secret = ''] = parts;
    const forge = (...forged: unknown[]): string =>
      Buffer.from(JSON.stringify(forged)).toString('base64url');
    for (const forged of [
      forge(
        session,
        call,
        secret.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
      ),
      forge(session, 'c2', secret),
      forge(other.run.sessionId, call, secret),
      forge(`tenant~${session}`, call, secret),
      forge(session, call),
      'x',
    ]) {
      await expect(post({ code: 'forged' }, forged)).rejects.toEqual(coded('not_found'));
    }
    await post({ code: 'right' });
    await (await run.next()).expectCalls([{ tool: 'transfer', output: { code: 'right' } }]);
  });

  it('is an error after its deadline, and its address is closed', async () => {
    const { runtime, run, post } = await begin();
    await runtime.advance(HOUR + 1_000);
    const ended = await run.next();
    await ended.expectCalls([{ tool: 'transfer', error: /deadline_exceeded/ }]);
    await expect(post({ code: 'late' })).rejects.toEqual(coded('webhook_closed'));
  });

  it.each(['stop', 'new message'])('is settled by a %s, and its address is closed', async (how) => {
    const { run, post } = await begin();
    const ended = how === 'stop' ? await run.stop() : await run.send('never mind');
    await ended.expectCalls([{ tool: 'transfer', error: /was waiting for an answer/ }]);
    await expect(post({ code: 'late' })).rejects.toEqual(coded('webhook_closed'));
  });

  it('waits after a person has approved it, and the decision stays', async () => {
    const { run, post, urls } = await begin({ requireApproval: true });
    expect(urls).toEqual([]);
    const waiting = await run.approve('transfer');
    expect(waiting.pending).toEqual([]);
    await post({ code: 'paid' });
    await (await waiting.next()).expectCalls([{ tool: 'transfer', output: { code: 'paid' } }]);
  });

  it('that throws while it passes its address on has failed, and nothing waits', async () => {
    const { run } = await begin({ send: () => Promise.reject(new Error('the bank is closed')) });
    await run.expectCalls([{ tool: 'transfer', error: /the bank is closed/ }]);
  });

  it('is to be called again if it is called before it waits', async () => {
    let early: unknown;
    const urls: string[] = [];
    const { run, post } = await begin(
      {
        send: async (url) => {
          const runtime = runtimes.at(-1);
          if (runtime === undefined) throw new Error('there is no runtime');
          const { agents, stores } = runtime;
          const deps = { agents, ...stores, logger: console, host: 'api', holdMs: 0 } as const;
          const { callWebhook } = createAnswers(deps);
          urls.push(url);
          // Nothing is checked yet, so what does not fit is refused in the same way.
          early = await callWebhook(url.split('/').at(-1) ?? '', { code: 5 }).catch(
            (error: unknown) => error,
          );
        },
      },
      urls,
    );
    expect(early).toEqual(coded('unavailable'));
    await post({ code: 'again' });
    await (await run.next()).expectCalls([{ tool: 'transfer', output: { code: 'again' } }]);
  });
});
