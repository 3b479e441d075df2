import { z } from 'zod';
import { defineTool } from '../../../agents/index.js';
import { toUserMessages } from '../../../ai-sdk/index.js';
import type { PostedMessage } from '../../../protocol/http.js';
import { fakeModel, parts } from '../../support/fake-model.js';
import { createGatedAgent } from '../../support/gated-agent.js';
import { snapshotOf } from '../../support/snapshot-of.js';
import { until } from '../../support/until.js';
import { ask, runtimeOf, user, type ChatRuntime } from './ask.js';
import { fakeAgent } from '../../support/fake-agent.js';

const cut: PostedMessage = {
  id: 'msg-1',
  role: 'assistant',
  parts: [{ type: 'step-start' }, { type: 'text', text: 'Once', state: 'streaming' }],
};

async function begin(runtime: ChatRuntime, ...posted: PostedMessage[]): Promise<void> {
  const messages = toUserMessages(posted);
  const said = { sessionId: 's1', agent: 'lab', owner: 'anonymous', messages };
  await runtime.executor.runs.execute(said);
}

/** A runtime that is in the middle of its reply to `u1`. */
async function speaking() {
  const { agent, open, reached } = createGatedAgent(undefined, 'lab');
  const runtime = runtimeOf(agent);
  await begin(runtime, user('u1', 'speak first'));
  await reached('first');
  return { runtime, open, reached };
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}

/** Says something after a copy of the reply. */
async function say(
  runtime: ChatRuntime,
  copy: PostedMessage,
  text = 'end',
): Promise<[number, string | undefined]> {
  const { status } = await ask(runtime, [user('u1'), copy, user('u2', text)]);
  const record = await runtime.stateStore.sessions.read('s1');
  return [status, record?.runId.split('-')[0]];
}

describe('a message that comes while a reply is written', () => {
  it.each([
    [undefined, [200, 's1:2']],
    ['reject', [409, 's1:1']],
  ] as const)(
    'interrupts a reply that its page cut short: busyPolicy %s',
    async (busyPolicy, is) => {
      const { runtime, open } = await speaking();
      expect(await say({ ...runtime, busyPolicy } as ChatRuntime, cut)).toEqual(is);
      open('first');
    },
  );

  it('does not interrupt the reply to a message that says the same: a second click on Send', async () => {
    const { runtime, open } = await speaking();
    expect(await say(runtime, cut, 'speak first')).toEqual([409, 's1:1']);
    open('first');
  });

  it('does not interrupt the run that has begun in the meantime', async () => {
    const { runtime, open, reached } = await speaking();
    const { execute, stop } = runtime.executor.runs;
    runtime.executor.runs.execute = async (input) => {
      runtime.executor.runs.execute = execute;
      await stop('s1', { mode: 'abort' });
      await until('it is over', async () => {
        return (await runtime.stateStore.sessions.read('s1'))?.stream === 'failed';
      });
      await begin(runtime, user('u9', 'speak second'));
      await reached('second');
      return execute(input);
    };
    expect(await say(runtime, cut)).toEqual([409, 's1:2']);
    expect(await runtime.stateStore.sessions.read('s1')).toMatchObject({ stream: 'active' });
    open('second');
  });

  it.each(['approval', 'client'] as const)(
    'does not interrupt what another client has let go on: %s',
    async (kind) => {
      const tool = {
        name: 'pay',
        description: 'Pays.',
        inputSchema: z.object({}),
        ...(kind === 'approval'
          ? { requireApproval: true as const, execute: () => 1 }
          : { execute: 'client' as const }),
      };
      const model = fakeModel((n, { abortSignal }) => {
        if (n === 1) return untilAborted(abortSignal);
        return n === 0 ? parts.asks(parts.call('c1', 'pay', {})) : parts.says('Paid.');
      });
      const tools = [defineTool(tool)];
      const runtime = runtimeOf(fakeAgent('lab', model, { tools }));
      await ask(runtime, [user('u1')]);
      const asked = (await snapshotOf(runtime, 's1'))?.messages.at(-1);
      const base = { sessionId: 's1', toolCallId: 'c1', by: 'anonymous' };
      const answer =
        kind === 'approval'
          ? ({ kind: 'approval-response', approved: true } as const)
          : ({ kind: 'client-tool-result', result: 1 } as const);
      await runtime.executor.runs.submitToolResult({ ...base, ...answer });
      const copy = asked as PostedMessage;
      expect(await say(runtime, copy)).toEqual([409, 's1:1']);
      // A page that shows what follows has read on, and then given it up.
      const shown = [...(copy.parts ?? []), ...(cut.parts ?? [])];
      expect(await say(runtime, { ...copy, parts: shown })).toMatchObject([200, 's1:2']);
    },
  );
});
