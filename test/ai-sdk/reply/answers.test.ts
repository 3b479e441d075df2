import { z } from 'zod';
import { createSubAgentTool, defineAgent, type ToolDefinition } from '../../../agents/index.js';
import { createScriptedModel } from '../../../agents/scripted/scripted-model.js';
import type { SnapshotDeps, UIMessage } from '../../../ai-sdk/index.js';
import type { KnownSession } from '../../../ai-sdk/reply/classify.js';
import { continueTurn, type Submission } from '../../../ai-sdk/reply/continue-turn.js';
import type { Chat } from '../../../ai-sdk/reply/types.js';
import type { LogEntry } from '../../../protocol/chunk.js';
import type { PostedMessage } from '../../../protocol/http.js';
import { HEADERS } from '../../../protocol/ids.js';
import {
  ask,
  createAsking,
  createRuntime,
  createScripted,
  get,
  GUARD,
  runtimeOf,
  scripted,
  startAsking,
  user,
} from './ask.js';
import { ACTIVE, call, intent, session } from './facts.js';
import { withoutLog } from '../recorded/without-log.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { snapshotOf } from '../../support/snapshot-of.js';
import { until } from '../../support/until.js';
import { fakeAgent } from '../../support/fake-agent.js';
import { fakeTool } from '../../support/fake-tool.js';

/** The page's copy of the conversation with these calls answered. */
async function answered(
  runtime: SnapshotDeps,
  answers: Record<string, boolean>,
): Promise<PostedMessage[]> {
  const snapshot = await snapshotOf(runtime, 's1');
  return (snapshot?.messages ?? []).map((message) => withAnswers(message, answers));
}

function withAnswers(message: UIMessage, answers: Record<string, boolean>): PostedMessage {
  const parts = message.parts.map((part) => {
    const approved = part.type === 'dynamic-tool' ? answers[part.toolCallId] : undefined;
    if (part.type !== 'dynamic-tool' || approved === undefined) return { ...part };
    return { ...part, state: 'approval-responded', approval: { ...part.approval, approved } };
  });
  return { ...message, parts };
}

/** A copy of the conversation in which this call's part has changed. */
const changed = (copy: PostedMessage[], toolCallId: string, change: object): PostedMessage[] =>
  copy.map((message) => ({
    ...message,
    parts: message.parts?.map((part) =>
      part['toolCallId'] === toolCallId ? { ...part, ...change } : part,
    ),
  }));

const callStates = async ({ stateStore }: SnapshotDeps): Promise<unknown> =>
  (await stateStore.sessions.view('s1'))?.openCalls.map(({ state }) => state);

describe('answers (path 3)', () => {
  it('a part of a batch is stored and ends at once, so that the page can send the rest', async () => {
    const runtime = await startAsking();
    const partial = await ask(runtime, await answered(runtime, { c1: true }));
    expect(partial.types).toEqual(['start', 'message-metadata', 'finish']);
    expect(await runtime.stateStore.sessions.read('s1')).toMatchObject({ stream: 'paused' });
    const snapshot = await snapshotOf(runtime, 's1');
    expect(snapshot?.messages.at(-1)?.parts).toMatchObject([
      {},
      {},
      { toolCallId: 'c1', state: 'approval-responded', approval: { approved: true } },
      { toolCallId: 'c2', state: 'approval-requested' },
    ]);
    // The same answer again, from a copy that shows no open call: guarded, or the page would loop.
    const alone = (await answered(runtime, { c1: true })).map((message) => ({
      ...message,
      parts: message.parts?.filter((part) => part['toolCallId'] !== 'c2'),
    }));
    expect((await ask(runtime, alone)).types).toEqual(['start', ...GUARD]);
  });

  it('one of another kind is refused, and those beside it count', async () => {
    const runtime = await startAsking();
    const given = { state: 'output-available', output: 'ok' };
    const copy = changed(await answered(runtime, { c2: true }), 'c1', given);
    // The second time nothing is new, and the call still waits for its decision.
    for (const _time of [1, 2]) {
      const reply = await ask(runtime, copy);
      expect([reply.status, JSON.parse(reply.text)]).toMatchObject([
        400,
        { code: 'kind_mismatch' },
      ]);
      expect(reply.text).toContain('an approval takes');
      expect(await callStates(runtime)).toEqual(['waiting', 'approved']);
    }
    // A message is answered whatever the copy of the conversation holds, and its page learns what did not count.
    const said = await ask(runtime, [...copy, user('u2')]);
    expect(said.status).toBe(200);
    expect(said.text).toContain('"data":{"toolCallId":"c1","reason":"kind-mismatch"}');
    // The other one counted when it came first, and every copy brings it again.
    expect(said.text).not.toContain('already-completed');
    expect(said.types.slice(0, 2)).toEqual(['start', 'start-step']);
  });

  it('a message that comes with the last one withdraws what the run asks next, which its page cannot show', async () => {
    const runtime = await startAsking();
    const copy = await answered(runtime, { c1: true, c2: true });
    const said = await ask(runtime, [...copy, user('u2')]);
    expect(said.types[0]).toBe('start');
    expect(said.text).toContain('May I?');
    const snapshot = await snapshotOf(runtime, 's1');
    expect(snapshot).toMatchObject({ status: 'paused', queue: [] });
    expect(snapshot?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    const calls = snapshot?.messages[1]?.parts.filter(({ type }) => type === 'dynamic-tool');
    expect(calls).toMatchObject([
      { toolCallId: 'c1', state: 'output-available' },
      { toolCallId: 'c2', state: 'output-available' },
      { toolCallId: 'c3', state: 'output-error' },
    ]);
  });

  it('a message that comes with the last one under a policy lets people answer first', async () => {
    const runtime = await startAsking();
    const copy = await answered(runtime, { c1: true, c2: true });
    const said = ask({ ...runtime, busyPolicy: 'queue' }, [...copy, user('u2')]);
    await until('asked', async () => String(await callStates(runtime)) === 'waiting');
    const rest = await ask(runtime, await answered(runtime, { c3: true }));
    expect(rest.text).toContain('Done.');
    expect((await said).text).toContain('May I?');
  });

  it('one of an earlier run is refused beside one that is stored', async () => {
    const runtime = await startAsking();
    const old = { approval: { id: 's1:0-old::c2', approved: true } };
    const copy = changed(await answered(runtime, { c1: true, c2: true }), 'c2', old);
    const reply = await ask(runtime, copy);
    expect(reply.status).toBe(200);
    expect(reply.text).toContain('"reason":"stale-run"');
    expect(await callStates(runtime)).toEqual(['approved', 'waiting']);
  });

  it('one of an earlier run is refused beside the last answer', async () => {
    const runtime = await startAsking();
    const copy = await answered(runtime, { c1: true, c2: true });
    const old = { type: 'dynamic-tool', toolCallId: 'c0', state: 'approval-responded' };
    copy.at(-1)?.parts?.push({ ...old, approval: { id: 's1:0-old::c0', approved: true } });
    const reply = await ask(runtime, copy);
    expect(reply.text).toContain('"data":{"toolCallId":"c0","reason":"stale-run"');
    expect(reply.types[0]).toBe('start');
    expect(reply.text).toContain('And this?');
  });

  it.each([
    ['a denial', false, 'output-denied'],
    ['an approval', true, 'output-available'],
  ])('%s is one of the answers until the others are there', async (_, approved, settled) => {
    const runtime = await startAsking();
    await ask(runtime, await answered(runtime, { c1: approved }));
    const statesOf = async (): Promise<unknown[]> => {
      const snapshot = await snapshotOf(runtime, 's1');
      const parts = snapshot?.messages.at(-1)?.parts ?? [];
      return parts.flatMap((part) => (part.type === 'dynamic-tool' ? [part.state] : []));
    };
    expect(await statesOf()).toEqual(['approval-responded', 'approval-requested']);
    // A stock page that was not asked about one call would not send the others' answers.
    const gone = { ...runtime, streamManager: withoutLog(runtime.streamManager, 1_000) };
    for (const from of [runtime, gone]) {
      for (const [profile, answers] of [
        ['common', []],
        ['v7', ['tool-approval-response']],
      ] as const) {
        const headers = { [HEADERS.resumeFromSequence]: '0', [HEADERS.profile]: profile };
        const { types } = await get(from, headers);
        const told = types.filter((type) => /^tool-(approval|output)/.test(type)).sort();
        const asked = ['tool-approval-request', 'tool-approval-request'];
        // A client that does not know the answer's part learns of a denial at once.
        const outcome = !approved && profile === 'common' ? ['tool-output-denied'] : [];
        expect(told).toEqual([...asked, ...answers, ...outcome]);
      }
    }
    await ask(runtime, await answered(runtime, { c2: true }));
    expect(await statesOf()).toEqual([settled, 'output-available', 'approval-requested']);
  });

  it('the last one brings the denials that waited for it, unless the page has them', async () => {
    const refused = fakeTool('refused', () => 'ok', {
      requireApproval: () => ({ approve: false, reason: 'no' }),
    });
    const tools = [refused, fakeTool('locate', 'client')];
    const model = createScriptedModel();
    const calls = tools.map(({ name }, at) => ({ tool: name, id: `c${String(at)}`, args: {} }));
    for (const [shown, denials] of [
      ['approval-requested', 1],
      ['output-denied', 0],
    ] as const) {
      const runtime = runtimeOf(fakeAgent('lab', model, { tools }));
      const asked = await ask(runtime, [scripted('u1', { calls })]);
      expect(asked.types).not.toContain('tool-output-denied');
      const given = { toolCallId: 'c1', state: 'output-available', output: 1 };
      const parts = [
        { type: 'dynamic-tool', toolCallId: 'c0', state: shown },
        { type: 'tool-locate', ...given },
      ];
      const messageId = (await snapshotOf(runtime, 's1'))?.messages.at(-1)?.id ?? '';
      const copy = { id: messageId, role: 'assistant' as const, parts };
      const { types } = await ask(runtime, [user('u1'), copy]);
      expect(types.filter((type) => type === 'tool-output-denied')).toHaveLength(denials);
    }
  });

  it('each denial comes once, in whatever order the answers were posted', async () => {
    const model = createScriptedModel();
    const calls = ['c1', 'c2', 'c3'].map((id) => ({ tool: 'charge', id, args: { amount: 1 } }));
    const runtime = createRuntime(model);
    await ask(runtime, [scripted('u1', { calls })]);
    const headers = { [HEADERS.profile]: 'v7' };
    await ask(runtime, await answered(runtime, { c3: true }), headers);
    await ask(runtime, await answered(runtime, { c1: false }), headers);
    const { types } = await ask(runtime, await answered(runtime, { c2: true }), headers);
    expect(types.filter((type) => type === 'tool-output-denied')).toHaveLength(1);
  });

  it('a client whose batch another client completes gets the stream that follows', async () => {
    const runtime = await startAsking();
    const copy = await answered(runtime, { c1: true, c2: true });
    const { submitToolResult } = runtime.executor.runs;
    runtime.executor.runs.submitToolResult = async (answer, options) => {
      runtime.executor.runs.submitToolResult = submitToolResult;
      const taken = await submitToolResult(answer, options);
      const approvalId = answer.approvalId?.replace(/c1$/, 'c2');
      await submitToolResult({ ...answer, toolCallId: 'c2', approvalId }, options);
      return taken;
    };
    const reply = await ask(runtime, copy);
    expect(reply.types.slice(0, 4)).toEqual([
      'start',
      'tool-output-available',
      'tool-output-available',
      'start-step',
    ]);
    expect(reply.text).toBe((await ask(runtime, copy)).text);
  });

  it('the last answer continues the message behind the pause that asked', async () => {
    const runtime = await startAsking();
    const reply = await ask(runtime, await answered(runtime, { c1: true, c2: false }));
    expect(reply.types).toEqual([
      'start',
      'tool-output-denied',
      'tool-output-available',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'tool-input-start',
      'tool-input-available',
      'tool-approval-request',
      'finish-step',
      'finish',
    ]);
    expect(reply.headers.get('x-run-id')).toMatch(/^s1:1-/);
  });

  it("a page's call stays static in what follows its answer, and in what ends it without one", async () => {
    const locate = (name: string, deadlineMs?: number): ToolDefinition =>
      fakeTool(name, 'client', { deadlineMs });
    const tools = [locate('locate'), locate('locateAtOnce', 1)];
    const llmConfig = { model: createScriptedModel() };
    const runtime = runtimeOf(defineAgent({ name: 'lab', systemPrompt: '', tools, llmConfig }));
    const calls = ['locate', 'locate', 'locateAtOnce'].map((tool, at) => {
      return { tool, id: `c${String(at + 1)}`, args: {} };
    });
    await ask(runtime, [scripted('u1', { calls })]);
    await until('the deadline passes', async () => {
      const view = await runtime.stateStore.sessions.view('s1');
      return view?.openCalls.some(({ state }) => state === 'settled');
    });
    const part = { type: 'tool-locate', toolCallId: 'c1', state: 'output-available', output: 1 };
    const copy = [user('u1'), { id: 'msg-1', role: 'assistant' as const, parts: [part] }];
    await ask(runtime, copy);
    await runtime.executor.runs.stop('s1', { mode: 'interrupt' });
    const events = parseFrames((await ask(runtime, copy)).text).map((frame) => frame.part);
    const isLost = { type: 'tool-output-error', errorText: expect.any(String) };
    expect(events.filter(({ type }) => type.startsWith('tool-'))).toEqual([
      { ...isLost, toolCallId: 'c3' },
      { type: 'tool-output-available', toolCallId: 'c1', output: 1 },
      { ...isLost, toolCallId: 'c2' },
    ]);
  });

  it('an approval that an error cancels stays dynamic in what follows', async () => {
    const runtime = await startAsking();
    const error = { state: 'output-error', errorText: 'no' };
    const copy = changed(await answered(runtime, { c2: true }), 'c1', error);
    const events = parseFrames((await ask(runtime, copy)).text).map((frame) => frame.part);
    expect(events).toContainEqual({
      type: 'tool-output-error',
      toolCallId: 'c1',
      errorText: 'no',
      dynamic: true,
    });
  });

  it('given again, it gets the same, also when the turn has moved on', async () => {
    const runtime = await startAsking();
    const first = await answered(runtime, { c1: true, c2: true });
    const reply = await ask(runtime, first);
    expect((await ask(runtime, first)).text).toBe(reply.text);
    await ask(runtime, await answered(runtime, { c3: true }));
    const later = await ask(runtime, first);
    expect(later.types.slice(0, reply.types.length - 1)).toEqual(
      reply.types
        .slice(0, -1)
        .filter((type) => type !== 'tool-approval-request')
        .concat('tool-output-available'),
    );
    expect(later.types.at(-1)).toBe('finish');
  });

  it("given again to a sub-agent's question, it gets the same, also when the sub-agent has moved on", async () => {
    const model = createScriptedModel();
    const charge = fakeTool('charge', () => 'ok', { requireApproval: true });
    const helper = fakeAgent('helper', model, { tools: [charge] });
    const delegate = createSubAgentTool({
      name: 'delegate',
      description: 'Delegates.',
      agent: helper,
      inputSchema: z.object({ script: z.array(z.unknown()) }),
    });
    const runtime = runtimeOf(fakeAgent('lab', model, { tools: [delegate] }));
    const asks = (id: string) => ({ calls: [{ tool: 'charge', id, args: {} }] });
    const args = { script: [asks('c1'), asks('c2')] };
    await ask(runtime, [scripted('u1', { calls: [{ tool: 'delegate', id: 'd1', args }] })]);
    const copy = await answered(runtime, { c1: true });
    const reply = await ask(runtime, copy);
    expect(reply.types).toContain('tool-approval-request');
    const again = await ask(runtime, copy);
    expect(again.text).toBe(reply.text);
    // A request of another run stays unknown.
    const old = { approval: { id: 's1.1-old:1-old::c1', approved: true } };
    expect((await ask(runtime, changed(copy, 'c1', old))).types).toEqual(['start', ...GUARD]);
  });

  it('given again with those to an earlier pause, they continue behind the newest of them', async () => {
    const runtime = await startAsking();
    await ask(runtime, await answered(runtime, { c1: true, c2: true }));
    const all = await answered(runtime, { c1: true, c2: true, c3: true });
    await ask(runtime, all);
    const { text } = await ask(runtime, all);
    expect([text.includes('Done.'), text.includes('And this?')]).toEqual([true, false]);
  });

  it('a copy that is behind in a later step is sent back for its snapshot', async () => {
    const runtime = await startAsking();
    const copy = await answered(runtime, { c1: true, c2: true });
    await ask(runtime, copy);
    copy.at(-1)?.parts?.push({ type: 'step-start' }, { type: 'text', text: 'And th' });
    const reply = await ask(runtime, copy);
    expect(reply.status).toBe(409);
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'client_out_of_step' });
  });

  it('a reply that was cut short, sent back, is to be loaded again', async () => {
    const runtime = await startAsking();
    const copy = await answered(runtime, { c1: true, c2: true });
    await ask(runtime, copy);
    await ask(runtime, await answered(runtime, { c3: true }));
    const whole = await answered(runtime, {});
    const cut = structuredClone(whole);
    cut.at(-1)?.parts?.splice(-1, 1, { type: 'text', text: 'Do', state: 'streaming' });
    const codeOf = async (messages: typeof whole): Promise<unknown> => {
      const { status, text } = await ask(runtime, messages);
      return [status, (JSON.parse(text) as { code: string }).code];
    };
    expect(await codeOf(cut)).toEqual([409, 'client_out_of_step']);
    expect(await codeOf(whole)).toEqual([400, 'nothing_to_do']);
  });

  it('a stale run id is rejected in words for the page (path 7)', async () => {
    const runtime = await startAsking();
    const copy = await answered(runtime, { c1: true, c2: true });
    const forged = JSON.parse(
      JSON.stringify(copy).replaceAll(/s1:1-\w+/g, 's1:0-old'),
    ) as typeof copy;
    const reply = await ask(runtime, forged);
    expect(reply.text).toContain('"type":"data-resume-rejected"');
    expect(reply.text).toContain('"reason":"stale-run"');
    expect(reply.types).toEqual(['start', ...GUARD]);
    expect(await runtime.stateStore.sessions.read('s1')).toMatchObject({ stream: 'paused' });
  });

  it('an answer to an unknown session stores nothing', async () => {
    const runtime = await startAsking();
    const copy = await answered(runtime, { c1: true, c2: true });
    const other = createAsking();
    expect((await ask(other, copy)).text).toContain('"reason":"stale-run"');
    expect(await other.stateStore.sessions.read('s1')).toBeUndefined();
  });

  it('whoever answers another call learns of a question that stayed with others when it is denied', async () => {
    const approvers = { roles: ['approver' as const] };
    const asked = call('c1');
    const open = { ...asked, spec: { ...asked.spec, approvers } };
    const { toolCallId, approvalId } = intent;
    const denial = { ...AT, toolCallId, toolName: 'charge', approvalId, approved: false };
    const known = session({ ...ACTIVE, sequence: 4 }, { openCalls: [open] });
    const types = await typesBehind(known, { stored: ['c2'] }, [
      { sequence: 5, writer: 'r', message: { ...denial, type: 'tool_approval_response' } },
    ]);
    const told = ['tool-approval-request', 'tool-output-denied'];
    expect(types).toEqual(['start', ...told, ...GUARD]);
  });

  it.each([
    ['the conversation asks', 's1', ['tool-input-available', 'tool-output-available']],
    ['a sub-agent calls', 's1.1-a', []],
  ])('whoever answers late is sent what %s meanwhile', async (_, agentId, told) => {
    const known = session({ ...ACTIVE, sequence: 4 }, { openCalls: [call('c1', { askedAt: 2 })] });
    const started = { ...AT, agentId, toolCallId: 'c2', toolName: 'locate', arguments: {} };
    const ended = { ...AT, toolCallId: 'c0', toolName: 'echo', result: 1 };
    const types = await typesBehind(known, { stored: ['c1'] }, [
      { sequence: 3, writer: '', message: { ...started, type: 'tool_start' } },
      { sequence: 4, writer: '', message: { ...ended, type: 'tool_end' } },
    ]);
    expect(types.filter((type) => type.startsWith('tool-'))).toEqual(told);
  });
});

const AT = { agentId: 's1', agentType: 'lab', timestamp: 1, step: 1 };

/** Returns the types of what a page is sent whose answers let the run continue at 4. */
async function typesBehind(
  known: KnownSession,
  submission: Partial<Submission>,
  entries: LogEntry[],
): Promise<string[]> {
  const end = { type: 'stream_end', streamId: 's1', timestamp: 1 } as const;
  const { streamManager, executor, ...runtime } = createScripted();
  const between = (from: number, to: number) =>
    entries.filter(({ sequence }) => sequence > from && sequence <= to);
  const log = {
    read: (_id: string, from: number, _max: number, to = Infinity) =>
      Promise.resolve(between(from, to)),
    follow: async function* (_id: string, from: number) {
      yield await Promise.resolve([
        ...between(from, Infinity),
        { sequence: 9, writer: 'r', message: end },
      ]);
    },
  };
  const chat: Chat = {
    deps: { ...runtime, executor: executor.runs, streamManager: { ...streamManager, ...log } },
    params: { sessionId: 's1', messages: [] },
    caller: { userId: 'ann' },
    sessionId: 's1',
  };
  const reply = await continueTurn(chat, known, {
    stored: [],
    resumedAt: 4,
    rejected: [],
    ...submission,
  });
  let text = '';
  if (reply.kind === 'stream')
    for await (const frames of reply.frames(new AbortController().signal)) text += frames;
  return parseFrames(text).map(({ part }) => part.type);
}
