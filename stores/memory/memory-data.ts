import { LIMITS } from '../../protocol/limits.js';
import { createKeyspace, type Keyspace } from './keyspace/keyspace.js';
import { createLocalChannels, type LocalChannels } from './local-channels.js';

export interface MemoryOptions {
  /** How long the stream of an ended run is kept, seconds. Default one day. */
  streamTtlSeconds?: number;
  /** How long a session is kept after its last run, seconds. Default 0: without limit. */
  sessionTtlSeconds?: number;
  /** Entries of a stream before whole old turns are trimmed. Default 10,000; 0: never. */
  maxChunks?: number;
  /** The store's clock, ms since the epoch. Default the machine's. */
  now?: () => number;
}

/** What a store and a stream manager that belong together share. */
export interface MemoryData {
  readonly now: () => number;
  readonly options: Required<Omit<MemoryOptions, 'now'>>;
  /** Everything that is stored, as Redis would hold it. */
  readonly keyspace: Keyspace;
  /** Wakes the followers of streams, and tells of stops. */
  readonly channels: LocalChannels;
}

const STREAM_TTL_SECONDS = 24 * 60 * 60;

export function createMemoryData({
  streamTtlSeconds = STREAM_TTL_SECONDS,
  sessionTtlSeconds = 0,
  maxChunks = LIMITS.streamEntries,
  now = Date.now,
}: MemoryOptions = {}): MemoryData {
  const channels = createLocalChannels();
  return {
    now,
    options: { streamTtlSeconds, sessionTtlSeconds, maxChunks },
    keyspace: createKeyspace({ now, publish: channels.publish }),
    channels,
  };
}
