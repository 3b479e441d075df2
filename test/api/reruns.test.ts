import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { until } from '../support/until.js';
import { postJson } from '../support/post-json.js';

const product = useLocalProduct();

interface Reply {
  status: number;
  body: Record<string, unknown>;
}

async function call(path: string, body?: object): Promise<Reply> {
  const response = await fetch(`${product.url}/api/${path}`, {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

/** Plays a turn that calls a tool twice and then ends. */
async function play(sessionId: string, id: string): Promise<void> {
  const echo = (value: number) => ({
    calls: [{ tool: 'echo', id: `${id}-${String(value)}`, args: { value } }],
  });
  const script = [echo(1), echo(2), { say: 'Both echoed.' }];
  const message = { id, role: 'user', parts: [{ type: 'text', text: JSON.stringify({ script }) }] };
  const response = await postJson(`${product.url}/api/chat/${sessionId}?agent=lab`, { message });
  await response.text();
  await untilCompleted(sessionId);
}

async function untilCompleted(sessionId: string): Promise<void> {
  await until('the run has completed', async () => {
    const { body } = await call(`chat/${sessionId}/snapshot`);
    return (body['run'] as { status: string }).status === 'completed';
  });
}

async function messagesOf(path: string): Promise<{ id: string; parts: object[] }[]> {
  return (await call(path)).body['messages'] as { id: string; parts: object[] }[];
}

const UNKNOWN = { status: 404, body: { code: 'not_found' } };

describe('doing again, over HTTP', () => {
  it('the API lists checkpoints page by page, and shows the conversation as of one', async () => {
    const id = newSessionId();
    await play(id, 'u1');
    await play(id, 'u2');
    const first = await call(`chat/${id}/checkpoints?limit=4`);
    expect(first).toMatchObject({
      status: 200,
      body: {
        checkpoints: [
          { stepCount: 3, text: 'Both echoed.' },
          { stepCount: 2, toolNames: ['echo'] },
          { stepCount: 1, toolNames: ['echo'] },
          { stepCount: 3, text: 'Both echoed.' },
        ],
      },
    });
    const cursor = String(first.body['cursor']);
    const rest = await call(`chat/${id}/checkpoints?limit=4&cursor=${cursor}`);
    const checkpoints = rest.body['checkpoints'] as { id: string }[];
    expect(checkpoints).toMatchObject([{ stepCount: 2 }, { stepCount: 1 }]);
    const shown = await messagesOf(`chat/${id}/snapshot?checkpointId=${checkpoints[1]?.id ?? ''}`);
    expect(shown).toMatchObject([
      { id: 'u1' },
      {
        id: 'msg-1',
        parts: [{ type: 'step-start' }, { output: { value: 1 } }, { type: 'step-start' }],
      },
    ]);
    expect(await call(`chat/${id}/checkpoints?limit=none`)).toMatchObject({ status: 400 });
    expect(await call(`chat/${id}/snapshot?checkpointId=cpv1-x`)).toMatchObject(UNKNOWN);
    expect(await call('chat/unknown/checkpoints')).toMatchObject(UNKNOWN);
  });

  it('the API repeats a turn, and continues from a checkpoint', async () => {
    const id = newSessionId();
    await play(id, 'u1');
    const before = (await call(`chat/${id}/snapshot`)).body;
    const again = await call(`chat/${id}/retry`, {});
    expect(again).toMatchObject({ status: 202 });
    expect(again.body['runId']).not.toBe((before['run'] as { runId: string }).runId);
    await untilCompleted(id);
    expect(await messagesOf(`chat/${id}/snapshot`)).toHaveLength(2);

    const { checkpoints } = (await call(`chat/${id}/checkpoints`)).body as {
      checkpoints: { id: string }[];
    };
    const checkpointId = checkpoints[1]?.id;
    expect(await call(`chat/${id}/retry`, { checkpointId })).toMatchObject({ status: 202 });
    await untilCompleted(id);
    const resume = { sessionId: id, mode: 'from_checkpoint', checkpointId: checkpoints[2]?.id };
    expect(await call('agent/resume', resume)).toMatchObject({ status: 202 });
    await untilCompleted(id);
    const [, reply] = await messagesOf(`chat/${id}/snapshot`);
    expect(reply?.parts).toHaveLength(6);
    expect(JSON.stringify(reply)).toContain('Both echoed.');
    // A reader from the turn's beginning gets the kept chunks, then the replacement of the rest.
    const replay = await fetch(`${product.url}/api/chat/${id}`, {
      headers: { 'x-resume-from-sequence': '0' },
    });
    const text = await replay.text();
    expect(text.match(/"tool-output-available"/g)).toHaveLength(2);
    expect(text.match(/"type":"start"/g)).toHaveLength(1);
    expect(text).toContain('[DONE]');

    expect(await call(`chat/${id}/retry`, { messageId: 'x' })).toMatchObject({
      status: 404,
      body: { code: 'message_not_found' },
    });
    expect(await call(`chat/${id}/retry`, { checkpointId: 'x' })).toMatchObject({
      status: 404,
      body: { code: 'checkpoint_not_found' },
    });
    expect(await call(`chat/${id}/retry`, { checkpointId: 'x', messageId: 'x' })).toMatchObject({
      status: 400,
    });
    expect(await call('chat/unknown/retry', {})).toMatchObject(UNKNOWN);
  });

  it('later readers see a turn that is being repeated', async () => {
    const id = newSessionId();
    // It runs until someone stops it.
    const script = [{ say: 'Once more.', calls: [{ tool: 'sleep', args: { ms: 600_000 } }] }];
    const text = JSON.stringify({ script });
    const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text }] };
    const post = (trigger: string): Promise<Response> =>
      postJson(`${product.url}/api/chat/${id}?agent=lab`, { message, trigger });
    const stop = (): Promise<unknown> => postJson(`${product.url}/api/chat/${id}/stop`, {});
    const first = await post('submit-message');
    await stop();
    await first.text();
    const again = await Promise.all([1, 2, 3].map(() => post('regenerate-message')));
    const late = await post('regenerate-message');
    const runIds = [...again, late].map(({ headers }) => headers.get('x-run-id'));
    expect(new Set(runIds).size).toBe(1);
    await stop();
    for (const response of [...again, late]) {
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('[DONE]');
    }
    expect(await messagesOf(`chat/${id}/snapshot`)).toHaveLength(2);
  });

  it('the API copies a conversation, which continues independently', async () => {
    const id = newSessionId();
    await play(id, 'u1');
    await play(id, 'u2');
    const copied = await call(`chat/${id}/branch`, { messageIndex: 1 });
    expect(copied.status).toBe(201);
    const sessionId = String(copied.body['sessionId']);
    const source = await messagesOf(`chat/${id}/snapshot`);
    expect(await messagesOf(`chat/${sessionId}/snapshot`)).toEqual(source.slice(0, 2));
    await play(sessionId, 'u3');
    expect((await messagesOf(`chat/${sessionId}/snapshot`)).map((message) => message.id)).toEqual([
      'u1',
      'msg-1',
      'u3',
      'msg-3',
    ]);
    expect(await messagesOf(`chat/${id}/snapshot`)).toEqual(source);
    const asked = await call(`chat/${id}/branch`, { messageIndex: 2 });
    const open = String(asked.body['sessionId']);
    expect(await messagesOf(`chat/${open}/snapshot`)).toEqual(source.slice(0, 3));
    expect(await messagesOf(`chat/${open}/messages`)).toEqual(source.slice(0, 3));
    expect(await call(`chat/${id}/branch`, { sessionId })).toMatchObject({
      status: 409,
      body: { code: 'session_exists' },
    });
    expect(await call(`chat/${id}/branch`, { sessionId: 'no id' })).toMatchObject({ status: 400 });
    expect(await call('chat/unknown/branch', {})).toMatchObject(UNKNOWN);
  });
});
