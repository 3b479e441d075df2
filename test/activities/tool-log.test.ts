import { z } from 'zod';
import { executeTool } from '../../activities/tool/execute-tool.js';
import { defineTool, type ToolContext } from '../../agents/index.js';

async function logOf(thrown: unknown): Promise<{ logged: string; outcome: unknown }> {
  const lines: unknown[] = [];
  const outcome = await executeTool({
    tool: defineTool({
      name: 'tool',
      description: 'A tool.',
      inputSchema: z.object({}),
      execute: () => Promise.reject(thrown as Error),
    }),
    input: {},
    number: 1,
    attempt: {
      cancelled: () => false,
      cutReason: () => undefined,
      executing: () => () => undefined,
    } as never,
    signal: new AbortController().signal,
    context: { runId: 'r', toolCallId: 'c' } as ToolContext,
    webhookUrl: '',
    logger: { info: (...line) => void lines.push(line), warn: () => undefined },
  });
  return { logged: JSON.stringify(lines), outcome };
}

describe('the log of a tool that throws', () => {
  it('the log of a tool that throws names the call, the error and its place, and none of its text', async () => {
    const secret = 'alice@example.com\n    at home she is not';
    const { logged, outcome } = await logOf(new TypeError(`no account for ${secret}`));
    expect(logged).toContain('"runId":"r","toolCallId":"c"');
    expect(logged).toContain('"name":"TypeError"');
    expect(logged).toContain('tool-log.test');
    expect(logged).not.toMatch(/alice|at home/);
    expect(JSON.stringify(outcome)).toContain('alice@example.com');
  });

  it.each([['alice@example.com'], [{ toString: (): string => 'alice' }], [undefined]])(
    'the log leaves out the thrown value %j, which is no error',
    async (thrown) => {
      expect((await logOf(thrown)).logged).not.toContain('alice');
    },
  );
});
