import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { AgentRegistry } from '../../agents/index.js';
import { createProgram } from '../../cli/program.js';
import type { Cli } from '../../cli/cli.js';
import { loadExtensions } from '../../extensions/own-files/index.js';
import { answered } from '../../examples/extension/index.js';
import { createLabAgent } from '../../examples/lab/agent.js';
import { openApi, type Extension } from '../../extensions/index.js';
import { createInProcessExecutor } from '../../extensions/one-process/index.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { startApi } from '../api/api-server.js';

it('the example logs and counts what people answer, over HTTP and on the command line', async () => {
  const stores = createMemoryStores();
  const agents = new AgentRegistry([createLabAgent({})]);
  const lines: string[] = [];
  const logger = {
    info: (_: object, line: string) => void lines.push(line),
    warn: () => undefined,
  };
  const extensions = [openApi(), answered()];
  const executor = createInProcessExecutor({ agents, stores, extensions, logger });
  const script = [{ calls: [{ tool: 'locate', id: 'c1', args: {} }] }];
  const handle = await executor.execute('lab', JSON.stringify({ script }));
  await handle.result();
  await handle.answer('c1', { result: { city: 'Rome' } });
  const server = await startApi({
    executor,
    stores,
    agents,
    extensions,
  });
  const counted = await server.get('/api/answered');
  expect(await counted.text()).toBe('{"locate":1}');
  expect(lines).toContain('a call was answered');
  expect(await (await server.get('/api/openapi.json')).text()).toContain('countAnswered');

  const printed: string[] = [];
  const cli = {
    connect: () => ({
      get: async (path: string) => (await server.get(path)).json() as Promise<unknown>,
    }),
    terminal: { print: (text: string) => void printed.push(text) },
  } as unknown as Cli;
  await createProgram(cli, { version: '0', extensions }).parseAsync(['answered'], { from: 'user' });
  expect(printed).toEqual(['{"locate":1}']);
  await executor.close();
});

it('a listener is told of what activities change, and what fails behind a change is logged', async () => {
  const kinds = new Set<string>();
  const failed = new Set<unknown>();
  const failing = (text: string) => (): Promise<void> => Promise.reject(new Error(text));
  const released = jest.fn();
  const executor = createInProcessExecutor({
    agents: new AgentRegistry([createLabAgent({})]),
    stores: createMemoryStores(),
    logger: {
      info: () => undefined,
      warn: ({ err }: { err?: Error }) => void failed.add(err?.message),
    },
    extensions: [
      {
        name: 'broken',
        listener: failing('told'),
        before: () =>
          Promise.resolve(() => {
            throw new Error('released');
          }),
      },
      { name: 'behind', before: () => Promise.resolve(released) },
      {
        name: 'kinds',
        listener: (_, events) => {
          for (const { kind } of events) kinds.add(kind);
        },
      },
    ],
  });
  await (await executor.execute('lab', JSON.stringify({ script: [{ say: 'hi' }] }))).result();
  await executor.close();
  expect([...kinds]).toEqual(expect.arrayContaining(['attempt_ended', 'run_ended']));
  expect(released).toHaveBeenCalledTimes(1);
  expect([...failed]).toEqual(expect.arrayContaining(['told', 'released']));
});

it('of two extensions with one name the last counts, and pages come behind the middleware of all', async () => {
  const answers = (text: string): RequestHandler => {
    return (_, response) => void response.send(text);
  };
  const guard: RequestHandler = (request, response, next) => {
    if (request.path === '/guarded') response.status(403).end();
    else next();
  };
  const extensions: Extension[] = [
    { name: 'page', pages: () => [answers('first')] },
    { name: 'guard', middleware: [guard] },
    { name: 'page', pages: () => [answers('last')] },
  ];
  const server = await startApi({ extensions });
  expect(await (await server.get('/anything')).text()).toBe('last');
  expect((await server.get('/guarded')).status).toBe(403);
});

it('a command that exists already is refused in one sentence', () => {
  const mine = (word: string) => ({ name: `my ${word}`, commands: [{ ...hello, name: word }] });
  const hello = { description: 'Says hello.', run: () => Promise.resolve() };
  const create = (...extensions: Extension[]) => {
    return () => createProgram({} as Cli, { version: '0', extensions });
  };
  expect(create(mine('agent'))).toThrow('"my agent" has a command "agent", which exists already.');
  expect(create(mine('hello'), mine('hello [who]'))).toThrow('"hello", which exists already.');
  expect(create(mine('hello'), mine('hallo'))).not.toThrow();
});

it.each(['/api/answered', '/api/Answered/', '/api/chat/:id/snapshot'])(
  'a route %s that exists already is refused',
  async (path) => {
    const routes = (answered().routes ?? []).map((route) => ({ ...route, path, id: 'mine' }));
    const started = startApi({ extensions: [answered(), { name: 'mine', routes }] });
    await expect(started).rejects.toThrow(`and "mine" both serve GET ${path}.`);
  },
);

it('the file that EXTENSIONS names is loaded, and one without extensions is refused', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'helix-extension-')), 'mine.ts');
  writeFileSync(
    file,
    "const mine: { name: string } = { name: 'mine' };\nexport default [mine];\nexport { mine };\n",
  );
  expect(await loadExtensions<Extension>(file)).toEqual([{ name: 'mine' }]);
  await expect(loadExtensions('config/startup.ts')).rejects.toThrow('exports no extension');
});
