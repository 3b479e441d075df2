import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anyFreePort } from '../../scripts/system/ports.mjs';
import { startProgram, type Program as RunningProgram } from '../support/program.js';
import { sharedTemporal } from '../support/product.js';
import { programsIn, sourceOf, toJavaScript } from '../support/run-source.js';
import { sharedRedisUrl } from '../support/test-stores.js';
import { until } from '../support/until.js';

// Workers and servers in README, documents, comments and examples end soon after a request to stop.

const AGENTS = 'README.md';
const COMMENTS = ['extensions/worker.ts', 'extensions/api.ts'];
/** Limit, ms, from the drain to the exit; a slower process waits for something else. */
const END_MS = 3_000;

interface Program {
  name: string;
  code: string;
}

function blocksOf(file: string): string[] {
  if (file.endsWith('.md')) return programsIn(file);
  const examples = sourceOf(file).matchAll(/^ \* @example\n((?: \*(?! @|\/).*\n)+)/gm);
  return [...examples].map(([, code = '']) => code.replaceAll(/^ \* ?/gm, ''));
}

function isProcess(code: string): boolean {
  return code.includes('await worker.run();') || code.includes('.listen(3000)');
}

const documents = [
  'README.md',
  ...(await readdir('docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
];
const programs: Program[] = [...documents, ...COMMENTS].flatMap((file) =>
  blocksOf(file)
    .filter(isProcess)
    .map((code, at) => ({ name: `${file.replaceAll('/', '-')}-${String(at)}`, code })),
);
programs.push({ name: 'next/worker', code: sourceOf('examples/next/worker.mjs') });

interface Running {
  program: RunningProgram;
  isUp: () => boolean | Promise<boolean>;
}

let folder: string;
const running = new Map<string, Running>();

beforeAll(async () => {
  // The folder lies below the package's root, so that its name resolves to the build.
  await mkdir('.data', { recursive: true });
  folder = await mkdtemp(join(process.cwd(), '.data', 'processes-'));
  await cp('examples/next/lib', join(folder, 'next/lib'), { recursive: true });
  const agents = blocksOf(AGENTS).find((code) => code.startsWith('// agents.ts')) ?? '';
  await writeFile(join(folder, 'agents.js'), toJavaScript(agents));
  for (const [at, program] of programs.entries())
    running.set(program.name, await start(program, at));
});

afterAll(async () => {
  for (const { program } of running.values()) program.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Starts the unchanged program on the tests' engines. */
async function start({ name, code }: Program, at: number): Promise<Running> {
  const port = await anyFreePort();
  const queue = `docs-${String(process.pid)}-${String(at)}`;
  const [temporal, redis] = [sharedTemporal(), sharedRedisUrl()];
  const own = code
    .replaceAll(/redis:\/\/(localhost|127\.0\.0\.1):6379/g, redis)
    .replaceAll(/(localhost|127\.0\.0\.1):7233/g, temporal)
    .replaceAll(
      'NativeConnection.connect()',
      `NativeConnection.connect({ address: '${temporal}' })`,
    )
    .replaceAll(/taskQueue: '[^']*'/g, `taskQueue: '${queue}'`)
    .replaceAll('.listen(3000)', `.listen(${String(port)}, '127.0.0.1')`);
  const file = join(folder, `${name}.mjs`);
  await writeFile(
    file,
    `${toJavaScript(own)}\nfunction signedIn() { return { userId: 'ann' }; }\n`,
  );
  const program = startProgram(process.execPath, [file], {
    env: {
      TEMPORAL_ADDRESS: temporal,
      REDIS_URL: redis,
      TASK_QUEUE: queue,
      JWT_SECRET: 's'.repeat(32),
    },
  });
  const serves = async (): Promise<boolean> => {
    const reply = await fetch(`http://127.0.0.1:${String(port)}/healthz`).catch(() => undefined);
    await reply?.arrayBuffer();
    return reply?.ok === true;
  };
  // The program has two workers: one for agents, one for tools.
  const works = (): boolean => program.output().split("'RUNNING'").length > 2;
  return { program, isUp: code.includes('.listen(3000)') ? serves : works };
}

it('there are some of each kind', () => {
  expect(programs.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'README.md-0',
      'docs-http.md-0',
      'extensions-worker.ts-0',
      'extensions-worker.ts-1',
      'extensions-api.ts-0',
    ]),
  );
});

it.each(programs)('$name ends on SIGTERM', async ({ name }) => {
  const started = running.get(name);
  if (started === undefined) throw new Error(`${name} was not started`);
  const { program, isUp } = started;
  const { output, hasEnded } = program;
  await until(
    `${name} is up`,
    () => {
      if (hasEnded()) throw new Error(`it ended:\n${output()}`);
      return isUp();
    },
    60_000,
  );
  program.kill();
  // Workers log STOPPED when they have drained.
  const hasDrained = (): boolean =>
    hasEnded() || !works(output()) || output().split("'STOPPED'").length > 2;
  await until(`${name} has drained`, hasDrained, 30_000);
  await until(`${name} has ended`, hasEnded, END_MS);
  expect((await program.ended).code).toBe(0);
});

function works(output: string): boolean {
  return output.includes("'RUNNING'");
}
