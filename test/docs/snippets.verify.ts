import { readdirSync, readFileSync } from 'node:fs';
import { compile } from './factories.js';

// Snippets omit code that readers have; each compiles with the code given for it here.

const AGENT = `import { defineAgent, defineTool } from 'helix-temporal';
import { openai } from '@ai-sdk/openai';
import { z } from 'zod';
`;
const CONNECTED = `import type { Connection, Client } from '@temporalio/client';
import type { AgentDefinition } from 'helix-temporal';
import type { createRedisStores as S } from 'helix-temporal/store-redis';
declare const connection: Connection; declare const taskQueue: string; declare const client: Client;
declare const agents: AgentDefinition[]; declare const stores: ReturnType<typeof S>;
`;
const ANOTHER_FILE = `declare const desk: import('helix-temporal').AgentDefinition;
`;

/** Given code, by document and number of the snippet. */
const GIVEN: Record<string, string> = {
  'README-3': ANOTHER_FILE,
  'http-2': `${ANOTHER_FILE}declare const signedIn: import('helix-temporal/api').ApiOptions['authenticate'];`,
  'agents-1': `${AGENT}declare function lookUp(city: string, signal: AbortSignal): Promise<string>;`,
  'mcp-1': `${AGENT}declare const filesServer: string; declare const folder: string;`,
  'tools-1': `declare const bank: {
  take: (amount: number, key: string) => Promise<{ taken: number }>;
  find: (key: string) => Promise<{ taken: number } | undefined>;
};`,
  'agents-3': `${CONNECTED}declare function show(chunk: unknown): void;`,
  'agents-4': `declare const handle: import('helix-temporal/executor').RunHandle;
declare const result: Awaited<ReturnType<typeof handle.result>>;
declare function lookUp(input: unknown): Promise<string>; declare function isFine(input: unknown): Promise<boolean>;`,
  'agents-5': `declare const redis: import('ioredis').Redis; declare const id: string; declare const agentId: string;
declare function show(...what: unknown[]): void;`,
  'approvals-1':
    'declare function payBack(order: string, amount: number, key: string): { paid: number };',
  'approvals-2': `declare function mayArchive(userId: string | undefined, id: string): Promise<boolean>;
declare function archiveFor(id: string, approver: string | undefined): Promise<{ archived: boolean }>;`,
  'client-tools-2': 'declare function askForCity(): Promise<string>;',
  'waiting-1': `${AGENT}declare const bank: {
  requestTransfer: (amount: number, key: string, answerTo: string) => Promise<void>;
};`,
  'operating-2': `import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import { createAgentWorker } from 'helix-temporal/runtime-temporal';
declare const exporter: SpanExporter; declare const options: Parameters<typeof createAgentWorker>[0];`,
  'extensions-1': `${CONNECTED}import { createApi, type ApiOptions } from 'helix-temporal/api';
import { createAgentExecutor } from 'helix-temporal/executor';
import { allExtensions, type Extension } from 'helix-temporal/extensions';
declare const answered: () => Extension; declare const authenticate: NonNullable<ApiOptions['authenticate']>;`,
  'deploys-1': CONNECTED,
  'deploys-2':
    'declare function summarise(step: number): Promise<void>; declare const step: number;',
};

interface Snippet {
  name: string;
  code: string;
}

function snippetsOf(file: string): Snippet[] {
  const document = file.replace(/^docs\//, '').replace(/\.md$/, '');
  const blocks = [...readFileSync(file, 'utf8').matchAll(/^( *)```tsx?\n(.*?)^ *```$/gms)];
  return blocks.map(([, indent = '', text = ''], at) => ({
    name: `${document}-${String(at + 1)}`,
    code: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** Adds the given code and removes imports from neighbouring files. */
function toProgram({ name, code }: Snippet): string {
  const own = code
    .replace(/^import .* from '\.\/.*';$/gm, '')
    .replaceAll(', … }', ', ...options }');
  return `${GIVEN[name] ?? ''}\n${own}\nexport {};\n`;
}

// Another test compares the snippets of docs/front-ends.md with the examples.
const guides = readdirSync('docs').filter((name) => /(?<!^front-ends)\.md$/.test(name));
const snippets = ['README.md', ...guides.map((name) => `docs/${name}`)].flatMap(snippetsOf);

describe('the snippets in the documents', () => {
  it('each compiles in strict TypeScript, with what is given for it', async () => {
    const programs = snippets.map(
      (each) => [each.name.replaceAll('/', '-'), toProgram(each)] as const,
    );
    const faults = [...(await compile(new Map(programs)))].filter(([, found]) => found.length > 0);
    expect(faults).toEqual([]);
  }, 180_000);

  it('nothing is given for a snippet that does not exist', () => {
    const names = new Set(snippets.map(({ name }) => name));
    expect(Object.keys(GIVEN).filter((name) => !names.has(name))).toEqual([]);
  });
});
