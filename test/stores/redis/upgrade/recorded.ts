import type { Redis } from 'ioredis';
import type { LogEntry } from '../../../../protocol/chunk.js';
import type { PendingCall, SuspensionContext } from '../../../../stores/contract/calls.js';
import type { Checkpoint } from '../../../../stores/contract/checkpoints.js';
import type { VersionedState } from '../../../../stores/contract/custom-state.js';
import type { RunInfo } from '../../../../stores/contract/runs.js';
import type { SessionView } from '../../../../stores/contract/sessions.js';
import type { StreamInfo } from '../../../../stores/log/stream-manager.js';
import type { StoresUnderTest } from '../../../../stores/conformance/index.js';
import { dumpKeys, restoreKeys, type DumpedKey } from '../../../support/redis-dump.js';

/** A session as release 0.2.0 left it in Redis, and as it reads it. */
export interface Recorded {
  keys: DumpedKey[];
  read: SessionReading;
}

/** Everything that can be read of a session. */
export interface SessionReading {
  view: SessionView | undefined;
  runs: RunInfo[];
  checkpoints: Checkpoint[];
  state: VersionedState;
  pending: Record<string, PendingCall>;
  suspension: SuspensionContext | null;
  log: LogEntry[];
  info: StreamInfo | null;
}

export async function readSession(
  { store, streamManager }: Pick<StoresUnderTest, 'store' | 'streamManager'>,
  sessionId: string,
): Promise<SessionReading> {
  return {
    view: await store.sessions.view(sessionId),
    runs: await store.runs.list(sessionId),
    checkpoints: (await store.checkpoints.list(sessionId)).checkpoints,
    state: await store.documents.readState(sessionId),
    pending: await store.calls.pending(sessionId),
    suspension: await store.calls.suspension(sessionId),
    log: await streamManager.read(sessionId, 0, 10_000),
    info: await streamManager.getStreamInfo(sessionId),
  };
}

const LARGE = /x{1000,}/g;
const SHORT = /<(\d+) x>/g;

/** As it is kept in the project: of long values their length is kept. */
export function toFile(recorded: Recorded): string {
  const lines = recorded.keys.map((key) => JSON.stringify(key)).join(',\n');
  const text = `{"read":${JSON.stringify(recorded.read)},\n"keys":[\n${lines}\n]}\n`;
  return text.replace(LARGE, ({ length }) => `<${String(length)} x>`);
}

export function fromFile(text: string): Recorded {
  return JSON.parse(text.replace(SHORT, (_, count) => 'x'.repeat(Number(count)))) as Recorded;
}

/** All keys of a deployment whose keys have this prefix. */
export function dumpDeployment(redis: Redis, prefix: string): Promise<DumpedKey[]> {
  return dumpKeys(redis, `${prefix}:*`);
}

/** Puts the keys where a deployment of another prefix finds them. */
export async function restoreAs(redis: Redis, prefix: string, keys: DumpedKey[]): Promise<void> {
  await restoreKeys(
    redis,
    keys.map((each) => ({ ...each, key: each.key.replace(/^[^:]*/, prefix) })),
  );
}
