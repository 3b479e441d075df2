/** What durability depends on, of one server. */
export interface ServerInfo {
  version: string;
  /** A replica refuses writes. */
  isReplica: boolean;
  hasAppendOnlyFile: boolean;
  /** False if the last write to that file failed, as on a full disk. */
  isFileWritten: boolean;
  maxmemoryPolicy: string;
  /** Bytes; 0: no limit. */
  maxmemory: number;
  usedMemory: number;
  /** Keys that were evicted since the server started. */
  evictedKeys: number;
}

/** Reads the reply of INFO. */
export function parseServerInfo(info: string): ServerInfo {
  const field = (name: string): string =>
    new RegExp(`^${name}:(.*)\\r?$`, 'm').exec(info)?.[1]?.trim() ?? '';
  return {
    version: field('redis_version'),
    isReplica: field('role') === 'slave',
    hasAppendOnlyFile: field('aof_enabled') === '1',
    isFileWritten: field('aof_last_write_status') !== 'err',
    maxmemoryPolicy: field('maxmemory_policy'),
    maxmemory: Number(field('maxmemory')),
    usedMemory: Number(field('used_memory')),
    evictedKeys: Number(field('evicted_keys')),
  };
}
