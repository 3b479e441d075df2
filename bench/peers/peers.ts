import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newSessionId } from '../client/chat-client.js';
import type { Page } from '../client/page.js';
import { createDataLines, readRaw } from '../client/raw-stream.js';
import type { History } from '../client/runs.js';
import { startChild } from '../processes/child.js';
import { freePort, untilReady } from '../processes/product.js';
import {
  createRestartable,
  type BegunTurn,
  type Contender,
  type Running,
  type Turn,
} from './contender.js';

/** Characters of a frame without its word. */
const FRAME = 'data: \n\n'.length;

/** A reader's position in a turn, for requesting the rest. */
interface Position {
  id: string;
  words: number;
  chars: number;
}

/** Begins a turn at a peer's program and reads its frames. */
function beginOver(
  port: number,
  turn: Turn,
  page: Page,
  signal: AbortSignal,
): BegunTurn & { position: Position } {
  const position: Position = { id: newSessionId(), words: 0, chars: 0 };
  const toLines = (shown: Page): ((piece: string, at: number) => void) => {
    const takeWords = createDataLines((word, at) => {
      position.words += 1;
      position.chars += word.length + FRAME;
      shown.show(word, at);
    });
    return (piece, at) => {
      const named = /^id: (\S+)$/m.exec(piece)?.[1];
      if (named !== undefined) position.id = named;
      takeWords(piece, at);
    };
  };
  const path = `/turns/${position.id}`;
  const body = JSON.stringify(turn);
  return {
    position,
    response: readRaw({ port, path, body, onPiece: toLines(page), signal }),
    attach: (shown, leave) => {
      const { id, words, chars } = position;
      const rest = `/turns/${id}?words=${String(words)}&chars=${String(chars)}`;
      return readRaw({ port, path: rest, onPiece: toLines(shown), signal: leave });
    },
  };
}

/**
 * Runs a peer's programs, which serve turns and their history on one port.
 *
 * @param files the programs by process name; the first one makes the replies
 * @param toEnv returns their environment for a data folder
 */
async function runPrograms(
  home: string,
  files: Readonly<Record<string, string>>,
  toEnv: (dataFolder: string) => Record<string, string>,
): Promise<Running & { port: number }> {
  const port = await freePort();
  const data = mkdtempSync(join(tmpdir(), 'helix-peer-'));
  const options = {
    build: home,
    cwd: home,
    logFile: join(home, 'output.log'),
    nodeArgs: ['--max-semi-space-size=64'],
    env: { NODE_ENV: 'production', PORT: String(port), ...toEnv(data) },
  };
  const programs = Object.entries(files).map(([name, file]) => ({
    name,
    ...createRestartable(() => startChild(file, options)),
  }));
  await untilReady(port, '/ready');
  let newest: Position | undefined;
  return {
    port,
    begin: (turn, page, signal) => {
      const begun = beginOver(port, turn, page, signal);
      newest = begun.position;
      return begun;
    },
    cpuSeconds: () => Object.fromEntries(programs.map((each) => [each.name, each.cpuSeconds()])),
    crash: async () => programs[0]?.crash(),
    history: async () => {
      const reply = await fetch(`http://127.0.0.1:${String(port)}/history/${newest?.id ?? ''}`);
      return (await reply.json()) as History;
    },
    stop: async () => {
      await Promise.all(programs.map(({ stop }) => stop()));
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** The Workflow SDK with its local world, built by Nitro: one process, files. */
export const vercelWorkflow: Contender = {
  name: 'workflow (local world)',
  note: 'its local world is meant for development; elsewhere it runs on a hosted service or Postgres',
  start: (_, folder) =>
    runPrograms(
      join(folder, 'vercel-workflow'),
      { server: '.output/server/index.mjs' },
      (data) => ({ HOST: '127.0.0.1', WORKFLOW_LOCAL_DATA_DIR: data }),
    ),
};

/** Temporal's integration of the AI SDK, which keeps the stream in the workflow. */
export const workflowStreams: Contender = {
  name: '@temporalio/workflow-streams + ai-sdk',
  note: 'with the defaults of its documentation: batches of 100 ms, polls 100 ms apart',
  start: ({ temporalAddress }, folder) =>
    runPrograms(
      join(folder, 'workflow-streams'),
      { worker: 'worker.mjs', server: 'server.mjs' },
      () => ({ TEMPORAL_ADDRESS: temporalAddress }),
    ),
};

/** The web process makes the reply, and Redis carries it to later readers. */
export const resumableStream: Contender = {
  name: 'resumable-stream',
  withoutSteps: 'carries one stream; steps, retries and waits are the application’s',
  note: 'the first reader is served by the process that makes the reply, without Redis',
  start: ({ redisUrl }, folder) =>
    runPrograms(join(folder, 'resumable-stream'), { server: 'server.mjs' }, () => ({
      REDIS_URL: redisUrl,
    })),
};

/** A server of append-only streams, which readers connect to; a separate process writes. */
export const durableStreams: Contender = {
  name: 'Durable Streams server (Node, files)',
  withoutSteps: 'stores streams; steps, retries and waits are the application’s',
  start: async (_, folder) => {
    const streamsPort = await freePort();
    const running = await runPrograms(
      join(folder, 'durable-streams'),
      { writer: 'server.mjs', server: 'streams.mjs' },
      (data) => ({ STREAMS_PORT: String(streamsPort), DATA_FOLDER: data }),
    );
    return {
      ...running,
      begin: (turn, page, signal): BegunTurn => {
        const id = newSessionId();
        let offset = '-1';
        const read = (shown: Page, leave: AbortSignal): Promise<void> =>
          readRaw({
            port: streamsPort,
            path: `/turns/${id}?offset=${offset}&live=sse`,
            // Lines `data:<word>` and, after each batch, `data:{…}` with the position.
            onPiece: createDataLines((data, at) => {
              const next = /^\{"streamNextOffset":"([^"]+)"/.exec(data)?.[1];
              if (next !== undefined) offset = next;
              else if (data.trim() !== '') shown.show(data, at);
            }, 'data:'),
            signal: leave,
          });
        const posted = fetch(`http://127.0.0.1:${String(running.port)}/turns/${id}`, {
          method: 'POST',
          body: JSON.stringify(turn),
        });
        return { response: posted.then(() => read(page, signal)), attach: read };
      },
    };
  },
};
