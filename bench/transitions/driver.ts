import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Store } from '../../stores/contract/store.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import type { RedisStoreOptions, RedisStores } from '../../stores/redis/index.js';

/**
 * The one place that knows how the store is called. Builds of different ages are measured beside each
 * other, so both forms are spoken: methods in one flat object, and methods under nouns.
 */
export type { NewCall } from '../../stores/contract/call-record.js';
export { NO_RUN, type Writer } from '../../stores/contract/log.js';
export type { UserMessage } from '../../stores/contract/runs.js';

/** Noun and verb of each transition, by its name in a flat store. */
const PLACES = {
  begin: ['runs', 'begin'],
  beginChild: ['runs', 'beginChild'],
  resumeRun: ['runs', 'resume'],
  rewind: ['runs', 'rewind'],
  stop: ['runs', 'stop'],
  end: ['runs', 'end'],
  claim: ['steps', 'claim'],
  commit: ['steps', 'commit'],
  discard: ['steps', 'discard'],
  takeOver: ['steps', 'takeOver'],
  startCall: ['calls', 'start'],
  settleCall: ['calls', 'settle'],
  extendDeadline: ['calls', 'extendDeadline'],
  leaseCall: ['calls', 'lease'],
  readCall: ['calls', 'read'],
  takeCallId: ['calls', 'takeId'],
  beginQueued: ['queue', 'begin'],
  editQueued: ['queue', 'edit'],
  removeQueued: ['queue', 'remove'],
  found: ['sessions', 'branch'],
  delete: ['sessions', 'erase'],
  noteActiveSnapshot: ['sessions', 'noteActiveSnapshot'],
  save: ['documents', 'save'],
  stageChanges: ['staging', 'stage'],
} as const;

type Places = typeof PLACES;
type MethodAt<Noun extends keyof Store, Verb> = Verb extends keyof Store[Noun]
  ? Store[Noun][Verb]
  : never;
type Transitions = { [Name in keyof Places]: MethodAt<Places[Name][0], Places[Name][1]> };
type Streams = Pick<
  StreamManager,
  'append' | 'openWriter' | 'closeWriter' | 'mark' | 'cleanupToStep'
>;

/** The transitions of one build, whatever form its store has. */
export interface Driver extends Transitions {
  streams: Streams;
  ping: () => Promise<void>;
  close: () => Promise<void>;
}

type Method = (...args: unknown[]) => Promise<unknown>;
type Methods = Partial<Record<string, Method>>;

/** @param dist folder of a build */
export async function openDriver(
  dist: string,
  options: { url: string } & RedisStoreOptions,
): Promise<Driver> {
  const file = pathToFileURL(join(dist, 'stores', 'redis', 'index.js')).href;
  const { createRedisStores } = (await import(file)) as {
    createRedisStores: (
      options: { role: 'worker'; url: string } & RedisStoreOptions,
    ) => RedisStores;
  };
  const stores = createRedisStores({ role: 'worker', ...options });
  const methods = Object.entries(PLACES).map(([flat, [noun, verb]]) => [
    flat,
    findMethod(stores.store as unknown as Record<string, unknown>, flat, noun, verb),
  ]);
  return {
    ...(Object.fromEntries(methods) as Transitions),
    streams: stores.streamManager,
    ping: stores.ping,
    close: stores.close,
  };
}

function findMethod(
  store: Record<string, unknown>,
  flat: string,
  noun: string,
  verb: string,
): Method {
  const group = store[noun] as Methods | undefined;
  const method = group?.[verb];
  if (method !== undefined) return (...args) => method.apply(group, args);
  const flatMethod = FORMER[flat]?.(store) ?? (store as Methods)[flat];
  if (flatMethod === undefined) throw new Error(`There is neither ${noun}.${verb} nor ${flat}.`);
  return flatMethod;
}

/** Methods of older stores that take other arguments. */
const FORMER: Partial<Record<string, (store: Record<string, unknown>) => Method>> = {
  takeCallId: (store) => async (input) => {
    const { sessionId, call, wanted } = input as Parameters<Transitions['takeCallId']>[0];
    const id = await (store as Methods)['takeCallId']?.(sessionId, call, wanted);
    return { kind: 'taken', id };
  },
};
