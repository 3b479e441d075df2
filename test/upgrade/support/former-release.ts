import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import type { Store } from '../../../stores/contract/store.js';
import type { RedisStores } from '../../../stores/redis/index.js';
import type { StoresUnderTest } from '../../../stores/conformance/index.js';
import { until } from '../../support/until.js';

/** What release 0.2.0 calls a store: one object with all methods. */
type FormerStore = Record<string, (...args: never[]) => Promise<unknown>>;

interface FormerModule {
  createRedisStores: (
    options: Record<string, unknown>,
  ) => Omit<RedisStores, 'store'> & { store: FormerStore };
}

/** Where release 0.2.0 was built; `npm run rehearse-upgrade` names it. */
export function formerRelease(): string {
  const folder = process.env['FORMER_RELEASE'];
  if (folder === undefined) {
    throw new Error('FORMER_RELEASE is not set: use npm run rehearse-upgrade');
  }
  return folder;
}

/** The stores of release 0.2.0 on a Redis, under the names of today. */
export async function openFormerStores(
  url: string,
  options: { prefix?: string; sessionTtlSeconds?: number } = {},
): Promise<StoresUnderTest> {
  const module = join(formerRelease(), 'dist/stores/redis/index.js');
  const { createRedisStores } = (await import(pathToFileURL(module).href)) as FormerModule;
  const { store, streamManager, ping, close } = createRedisStores({
    url,
    role: 'worker',
    ...options,
  });
  await until('Redis answers', () =>
    ping().then(
      () => true,
      () => false,
    ),
  );
  return { store: toNouns(store), streamManager, close };
}

/** Names of the former methods by noun and today's name. */
const FORMER_NAMES: Record<string, Record<string, string>> = {
  sessions: {
    read: 'readRecord',
    rows: 'readRows',
    view: 'readView',
    withCalls: 'readCalls',
    acceptedMessages: 'acceptedMessages',
    noteActiveSnapshot: 'noteActiveSnapshot',
    branch: 'found',
    erase: 'delete',
  },
  runs: {
    begin: 'begin',
    beginChild: 'beginChild',
    resume: 'resumeRun',
    rewind: 'rewind',
    stop: 'stop',
    end: 'end',
    current: 'getCurrentRun',
    list: 'listRuns',
    interruption: 'getInterruptRecord',
  },
  steps: { claim: 'claim', commit: 'commit', discard: 'discard', takeOver: 'takeOver' },
  calls: {
    start: 'startCall',
    settle: 'settleCall',
    extendDeadline: 'extendDeadline',
    lease: 'leaseCall',
    read: 'readCall',
    pending: 'getPendingCalls',
    suspension: 'getSuspensionContext',
  },
  queue: { begin: 'beginQueued', edit: 'editQueued', remove: 'removeQueued', read: 'readQueue' },
  documents: { load: 'load', save: 'save', readState: 'readState', messages: 'getMessages' },
  checkpoints: { get: 'getCheckpoint', latest: 'getLatestCheckpoint', list: 'listCheckpoints' },
  staging: {
    stage: 'stageChanges',
    promote: 'promoteStaging',
    promoteSettled: 'promoteSettled',
    discard: 'discardStaging',
  },
  waiting: { page: 'waitingSessions', note: 'noteWaiting', forget: 'forgetWaiting' },
  due: { note: 'noteDue' },
};

/** Today's rows name `hidden` in any case; 0.2.0 shows it as it stands there. */
function readingAsToday(method: FormerStore[string] | undefined): FormerStore[string] | undefined {
  return method && (async (...args) => withoutVisible(await method(...args)));
}

function withoutVisible(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutVisible);
  if (typeof value !== 'object' || value === null) return value;
  const isRow = 'role' in value && 'hidden' in value && value.hidden === false;
  const entries = Object.entries(value).filter(([name]) => !(isRow && name === 'hidden'));
  return Object.fromEntries(entries.map(([name, each]) => [name, withoutVisible(each)]));
}

function toNouns(former: FormerStore): Store {
  const store: Record<string, Record<string, unknown>> = {};
  for (const [noun, names] of Object.entries(FORMER_NAMES)) {
    const methods: Record<string, unknown> = {};
    for (const [name, formerName] of Object.entries(names))
      methods[name] = readingAsToday(former[formerName]);
    store[noun] = methods;
  }
  const call = former as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const given = store;
  Object.assign(given['sessions'] ?? {}, {
    branch: async (input: unknown) => {
      const result = (await call['found']?.(input)) as { kind: string };
      return { kind: result.kind === 'founded' ? 'branched' : result.kind };
    },
  });
  Object.assign(given['calls'] ?? {}, {
    takeId: async ({ sessionId, call: of, wanted }: Record<string, string>) => ({
      kind: 'taken',
      id: await call['takeCallId']?.(sessionId, of, wanted),
    }),
  });
  return store as unknown as Store;
}
