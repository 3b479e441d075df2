import type { StreamChunk } from '../../../protocol/chunk.js';
import type { Decision } from '../../../protocol/rows.js';
import { equal, includes } from '../assertions.js';
import { AGENT, assistantRow, newCall } from '../fixtures.js';
import { DEEP } from '../hostile.js';
import {
  ask,
  askAndStart,
  base,
  rowsOf,
  runOf,
  settleTool,
  stateOf,
  type Value,
  type Way,
} from './ways-in.js';

/** Ways in which steps, calls and answers give values. */
export function stepWays(): Way[] {
  return [
    {
      name: 'changes that a call settles with',
      code: 'validation_error',
      prepare: askAndStart,
      give: (setup, value) => settleTool(setup, { changes: [{ op: 'replace', path: '', value }] }),
      read: stateOf,
    },
    {
      name: 'an event beside a result',
      code: 'invalid_chunk',
      prepare: askAndStart,
      give: async (setup, data) => {
        const writer = setup.session.callWriter(await runOf(setup), 1, 'c', 1);
        const chunk: StreamChunk = { type: 'custom', ...base(setup), eventName: 'e', data };
        const appended = await setup.streamManager.append(writer, 1, [chunk], 0);
        includes(appended, { kind: 'appended' });
        return settleTool(setup, { hasEvents: true });
      },
      read: async (setup) => {
        await setup.session.stop();
        const row = (await rowsOf(setup)).find(({ role }) => role === 'tool');
        return row?.role === 'tool' && row.events?.[0]?.chunk.data;
      },
    },
    {
      name: 'arguments of a call',
      code: 'validation_error',
      prepare: async ({ session }) =>
        session.claim(session.writer((await session.newRun()).runId, 1, 1)),
      give: async (setup, input) => {
        const writer = setup.session.writer(await runOf(setup), 1, 1);
        return setup.session.commit(writer, { calls: [newCall('c', 'server', { input })] });
      },
      read: async ({ store, session }) => (await store.calls.read(session.id, 'c'))?.spec.input,
    },
    {
      name: 'the result of a call that is not answered in time',
      code: 'validation_error',
      prepare: async ({ session }) =>
        session.claim(session.writer((await session.newRun()).runId, 1, 1)),
      give: async (setup, result) => {
        const call = newCall('c', 'client', { deadlineMs: 1, onExpiry: { result } });
        return setup.session.commit(setup.session.writer(await runOf(setup), 1, 1), {
          calls: [call],
        });
      },
      read: async ({ store, session }) => {
        const onExpiry = (await store.calls.read(session.id, 'c'))?.spec.onExpiry;
        return typeof onExpiry === 'object' && onExpiry.result;
      },
    },
    {
      name: 'what a provider says about a text',
      code: 'validation_error',
      prepare: async ({ session }) =>
        session.claim(session.writer((await session.newRun()).runId, 1, 1)),
      give: async (setup, value) => {
        const writer = setup.session.writer(await runOf(setup), 1, 1);
        const row = assistantRow(writer, []);
        const providerMetadata = value as Record<string, Value>;
        row.parts = [{ type: 'text', text: '', providerMetadata }];
        return setup.session.commit(writer, { row });
      },
      read: async (setup) => {
        const row = (await rowsOf(setup))[1];
        const part = row?.role === 'assistant' && row.parts[0];
        return part && part.type === 'text' && part.providerMetadata;
      },
    },
    {
      name: 'the result of a run',
      code: 'validation_error',
      prepare: async ({ session }) =>
        session.claim(session.writer((await session.newRun()).runId, 1, 1)),
      give: async (setup, output) =>
        setup.session.commit(setup.session.writer(await runOf(setup), 1, 1), { output }),
      read: async ({ store, session }) => {
        equal((await store.runs.list(session.id))[0]?.output, DEEP);
        return (await session.messages('output'))[0]?.output;
      },
    },
    {
      name: 'the result of a run from a tool',
      code: 'validation_error',
      prepare: askAndStart,
      give: (setup, output) => settleTool(setup, { output }),
      read: async ({ store, session }) => (await store.sessions.read(session.id))?.output,
    },
    {
      name: 'an input that a person changed',
      code: 'validation_error',
      prepare: (setup) => ask(setup, newCall('c', 'approval')),
      give: async (setup, input) => {
        const decision: Decision = { approved: true, at: 1, input };
        return setup.store.calls.settle({
          source: 'approval',
          sessionId: setup.session.id,
          agentType: AGENT,
          toolCallId: 'c',
          runId: await runOf(setup),
          decision,
          permitted: true,
          chunks: [],
          now: 1,
        });
      },
      read: async (setup) => {
        await setup.session.start(await runOf(setup), 1, 'c');
        await setup.session.stop();
        const row = (await rowsOf(setup)).find(({ role }) => role === 'tool');
        return row?.role === 'tool' && row.decision?.input;
      },
    },
    {
      name: 'a client’s result',
      code: 'validation_error',
      prepare: (setup) => ask(setup, newCall('c', 'client')),
      give: async (setup, output) => setup.session.answer(await runOf(setup), 'c', { output }),
      read: async ({ store, session }) => {
        const row = (await store.calls.read(session.id, 'c'))?.row;
        return row?.role === 'tool' && row.output;
      },
    },
    {
      name: 'a tool’s result',
      code: 'validation_error',
      prepare: askAndStart,
      give: (setup, output) => settleTool(setup, {}, output),
      read: async ({ store, session }) => {
        const row = (await store.calls.read(session.id, 'c'))?.row;
        return row?.role === 'tool' && row.output;
      },
    },
    {
      name: 'a tool’s result in its chunk',
      code: 'invalid_chunk',
      prepare: askAndStart,
      give: (setup, result) =>
        settleTool(setup, {
          chunks: [{ type: 'tool_end', ...base(setup), toolCallId: 'c', toolName: 't', result }],
        }),
      read: async ({ session }) => (await session.messages('tool_end'))[0]?.result,
    },
    {
      name: 'a partial reply',
      code: 'validation_error',
      prepare: ({ session }) => session.newRun(),
      give: async (setup, input) => {
        const runId = await runOf(setup);
        const calls = [newCall('c', 'server', { input })];
        const row = assistantRow(setup.session.writer(runId, 1, 1), calls);
        return setup.session.end(runId, 'failed', { row });
      },
      read: async (setup) => {
        const row = (await rowsOf(setup))[1];
        const part = row?.role === 'assistant' && row.parts[1];
        return part && part.type === 'tool-call' && part.input;
      },
    },
  ];
}
