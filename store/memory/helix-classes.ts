import { onData } from '../contract/shared-data.js';
import type { Store } from '../contract/store.js';
import type { StreamManager } from '../log/stream-manager.js';
import { toHelixStateStore, type HelixStateStore } from '../record/helix-state-store.js';
import { createMemoryData, createStoresOn, type MemoryData, type MemoryOptions } from './stores.js';

/**
 * A store in memory, grouped by noun and with the method names of the Helix state store. A stream
 * manager created with it works on the same sessions.
 */
export interface InMemoryStateStore extends HelixStateStore, Store {
  readonly data: MemoryData;
}

export interface InMemoryStateStoreOptions extends MemoryOptions {
  /** Data shared with other stores; the other options are then ignored. */
  data?: MemoryData;
}

export interface InMemoryStreamManagerOptions extends InMemoryStateStoreOptions {
  /** The store whose sessions the streams belong to. Default: the store that an executor gets with it. */
  stateStore?: Pick<InMemoryStateStore, 'data'>;
}

export const InMemoryStateStore = class {
  readonly data: MemoryData;

  constructor({ data, ...options }: InMemoryStateStoreOptions = {}) {
    this.data = data ?? createMemoryData(options);
    const { store } = createStoresOn(this.data);
    Object.assign(this, store, toHelixStateStore(store));
  }
} as unknown as new (options?: InMemoryStateStoreOptions) => InMemoryStateStore;

export type InMemoryStreamManager = StreamManager;

export const InMemoryStreamManager = class InMemoryStreamManager {
  constructor({ stateStore, data, ...options }: InMemoryStreamManagerOptions = {}) {
    const given = stateStore?.data ?? data;
    const own = given ?? createMemoryData(options);
    Object.assign(this, createStoresOn(own).streamManager);
    if (given !== undefined) return;
    // A manager created without a store joins the first one that it is passed with.
    onData(this, own, (other) => {
      const shared = other as MemoryData | string;
      if (typeof shared === 'string' || own.keyspace.call('DBSIZE') !== 0) return false;
      onData(Object.assign(this, createStoresOn(shared).streamManager), shared);
      return true;
    });
  }
} as unknown as new (options?: InMemoryStreamManagerOptions) => InMemoryStreamManager;
