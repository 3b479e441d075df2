import type { Redis } from 'ioredis';
import { Client, Connection } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { workflowIdOf } from '../../protocol/ids.js';
import { sharedTemporal } from './product.js';
import { storedRecord } from './stored-record.js';

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

export interface Histories {
  /** Reads the events of a conversation's newest run. */
  of: (sessionId: string) => Promise<HistoryEvent[]>;
  close: () => Promise<void>;
}

export function openHistories(redis: Redis): Histories {
  const connection = Connection.lazy({ address: sharedTemporal() });
  const client = new Client({ connection });
  return {
    of: async (sessionId) => {
      const record = await storedRecord(redis, sessionId);
      const handle = client.workflow.getHandle(workflowIdOf(record?.run.id ?? ''));
      return (await handle.fetchHistory()).events ?? [];
    },
    close: () => connection.close(),
  };
}
