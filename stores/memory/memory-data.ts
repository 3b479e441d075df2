import { EventEmitter } from 'node:events';
import { LIMITS } from '../../protocol/limits.js';
import type { FilePlace, FileStore } from '../contract/files.js';
import type { LocalSubscriber } from '../redis/tail/channels.js';
import { createKeyspace, type Keyspace } from './keyspace.js';
import type { AuditTtl } from '../record/audit-ttl.js';

export interface MemoryOptions {
  /** How long the stream of an ended run is kept, seconds. Default one day. */
  streamTtlSeconds?: number;
  /** How long a session is kept after its last run, seconds. Default 0: without limit. */
  sessionTtlSeconds?: number;
  /** Entries of a stream before whole old turns are trimmed. Default 10,000; 0: never. */
  maxChunks?: number;
  /** Keys that sign the entries of the audit trail. Default: none. */
  auditKeys?: readonly string[];
  /** How long entries of the audit trail are kept, seconds, or a function of the tenant. Default 0: forever. */
  auditTtlSeconds?: AuditTtl;
  /** Where the bytes of files are. Default: in memory. */
  files?: FileStore;
  /** The store's clock, ms since the epoch. Default the machine's. */
  now?: () => number;
}

/** Data shared by a store and a stream manager that belong together. */
export interface MemoryData {
  readonly now: () => number;
  readonly options: Required<Omit<MemoryOptions, 'now' | 'files'>>;
  /** Everything that is stored, in the form in which Redis would hold it. */
  readonly keyspace: Keyspace;
  /** The bytes of files. */
  readonly files: FileStore;
  /** Wakes the followers of streams, and delivers stops. */
  readonly channels: LocalChannels;
}

const STREAM_TTL_SECONDS = 24 * 60 * 60;

/**
 * Data that several memory stores may share.
 *
 * @example
 * import { createMemoryData, createStoresOn } from 'helix-temporal/store-memory';
 *
 * // Two processes of a deployment, as a test plays them.
 * const data = createMemoryData();
 * const api = createStoresOn(data);
 * const worker = createStoresOn(data);
 */
export function createMemoryData({
  streamTtlSeconds = STREAM_TTL_SECONDS,
  sessionTtlSeconds = 0,
  maxChunks = LIMITS.streamEntries,
  auditKeys = [],
  auditTtlSeconds = 0,
  files = createMemoryFileStore(),
  now = Date.now,
}: MemoryOptions = {}): MemoryData {
  const channels = createLocalChannels();
  return {
    now,
    options: { streamTtlSeconds, sessionTtlSeconds, maxChunks, auditKeys, auditTtlSeconds },
    keyspace: createKeyspace({ now, publish: channels.publish }),
    files,
    channels,
  };
}

/** Publish/subscribe within this process. */
export interface LocalChannels {
  publish: (channel: string, message: string) => void;
  subscriber: () => LocalSubscriber;
}

function createLocalChannels(): LocalChannels {
  // A stream has as many followers as viewers.
  const events = new EventEmitter().setMaxListeners(0);
  return {
    publish: (channel, message) => {
      events.emit('smessage', channel, message);
    },
    // A subscriber receives all channels; the receiver filters.
    subscriber: () => ({
      on: (event, listener) => events.on(event, listener),
      ssubscribe: async () => 1,
      sunsubscribe: async () => 1,
      ping: async () => 'PONG',
      options: {},
      status: 'ready',
    }),
  };
}

/** The bytes of files in this process's memory, until they are removed. */
function createMemoryFileStore(): FileStore {
  const contents = new Map<string, Uint8Array>();
  const nameOf = ({ sessionId, fileId }: FilePlace): string => `${sessionId}/${fileId}`;
  return {
    write: async (place, content) => {
      contents.set(nameOf(place), Uint8Array.from(content));
    },
    read: async (place, { from, to }) => contents.get(nameOf(place))?.slice(from, to),
    remove: async (place) => {
      contents.delete(nameOf(place));
    },
  };
}
