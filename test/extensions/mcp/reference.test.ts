import { mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToolHost } from '../../../activities/index.js';
import type { AgentDefinition, ToolContext } from '../../../agents/index.js';
import { mcpServers, type McpServers } from '../../../extensions/mcp/index.js';
import { createLibrarian } from '../../../examples/mcp/agent.js';
import { anyFreePort } from '../../../scripts/system/ports.mjs';
import { startProgram } from '../../support/program.js';
import { fakeAgent } from '../../support/fake-agent.js';

const { resolve } = createRequire(import.meta.url);
const EVERYTHING = resolve('@modelcontextprotocol/server-everything/dist/index.js');
const FILES_SERVER = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const quiet = { info: () => undefined, warn: () => undefined };

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

async function equip(agent: AgentDefinition) {
  const host = createToolHost(quiet);
  undo.push(() => host.close());
  const { signal } = new AbortController();
  const [source] = agent.toolSources ?? [];
  const tools = source?.toTools(await source.list(new Set(), host, signal), host) ?? [];
  const find = (name: string) => tools.find((each) => each.name === name);
  const run = async (name: string, input: object): Promise<unknown> => {
    const tool = find(name);
    if (typeof tool?.execute !== 'function') throw new Error(`no tool ${name}`);
    const context = { idempotencyKey: 'k', abortSignal: signal } as ToolContext;
    const output: unknown = await tool.execute(input, context);
    return tool.toModelOutput?.({ toolCallId: 'c', input, output });
  };
  return { find, run };
}

const agentWith = (servers: McpServers) =>
  fakeAgent('a', 'scripted', { toolSources: [mcpServers(servers)] });

/** Starts the reference server and waits until it listens on HTTP. */
async function serveEverything(): Promise<string> {
  const port = String(await anyFreePort());
  const server = startProgram(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PORT: port },
  });
  undo.push(() => {
    server.kill();
  });
  await server.prints(`port ${port}`, (lines) => lines.includes(port));
  return `http://127.0.0.1:${port}/mcp`;
}

describe('reference servers', () => {
  it('everything: by program and by HTTP', async () => {
    const servers = [
      { command: process.execPath, args: [EVERYTHING, 'stdio'] },
      { url: await serveEverything() },
    ];
    for (const server of servers) {
      const { run } = await equip(agentWith({ all: server }));
      expect(await run('all_echo', { message: 'hello' })).toEqual({
        type: 'text',
        value: 'Echo: hello',
      });
      expect(await run('all_get-sum', { a: 2, b: 3 })).toMatchObject({
        value: expect.stringContaining('5') as unknown,
      });
      const image = await run('all_get-tiny-image', {});
      expect(image).toMatchObject({ type: 'content' });
      expect(JSON.stringify(image)).toContain('"mediaType":"image/png"');
      await expect(run('all_get-sum', { a: 'x' })).rejects.toMatchObject({
        code: expect.stringMatching(/^mcp_(tool_error|call_refused)$/) as unknown,
      });
    }
  });

  it('filesystem: as the example has it', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'notes-')));
    await writeFile(join(folder, 'note.txt'), 'Buy milk.');
    const env = { FILES_SERVER, FILES_FOLDER: folder };
    const { find, run } = await equip(createLibrarian('scripted', env));
    expect(await run('files_read_text_file', { path: join(folder, 'note.txt') })).toMatchObject({
      value: 'Buy milk.',
    });
    expect(find('files_read_text_file')?.requireApproval).toBeUndefined();
    expect(find('files_write_file')?.requireApproval).toBe(true);
    expect(find('files_move_file')).toBeUndefined();
    await expect(run('files_read_text_file', { path: '/etc/passwd' })).rejects.toMatchObject({
      code: 'mcp_tool_error',
    });
  });
});
