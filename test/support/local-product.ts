import { fileURLToPath } from 'node:url';
import { AgentRegistry, type AgentDefinition } from '../../agents/index.js';
import { createExampleAgents } from '../../examples/index.js';
import { allExtensions } from '../../extensions/index.js';
import {
  createInProcessExecutor,
  type InProcessOptions,
} from '../../extensions/one-process/index.js';
import { createJwtAuthenticator } from '../../extensions/jwt/index.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { startApi, type ApiServer } from '../api/api-server.js';
import { countsOf } from './lab-calls.js';
import { TOKENS } from './people.js';
import { lateBound } from './test-stores.js';

const WEB_ROOT = fileURLToPath(new URL('../../dist/web', import.meta.url));

/** All tests of a file may act as one user. */
const UNLIMITED = { requestsPerMinute: 0, openStreams: 0, readBytesPerMinute: 0 };

type Stores = InProcessOptions['stores'];

export interface LocalProduct extends Pick<ApiServer, 'url' | 'logged'> {
  stores: Stores;
  /** Returns how often the calls of these runs took effect, by their ids; see `chargesOf`. */
  chargesOf: (runs: string) => Record<string, number>;
}

interface LocalOptions {
  /** Default: the example agents. */
  agents?: readonly AgentDefinition[];
  /** Default: stores in memory. */
  openStores?: () => Promise<Stores>;
  defaultAgent?: string;
  /** True: callers have tokens; see `people.ts`. Default: all are one anonymous user. */
  hasAccounts?: boolean;
}

/** Keeps an API with agents up, whose runs this process carries out without Temporal. */
export function useLocalProduct({
  agents: own,
  openStores = () => Promise.resolve(createMemoryStores()),
  defaultAgent = own?.[0]?.name ?? 'support',
  hasAccounts = false,
}: LocalOptions = {}): LocalProduct {
  let product: LocalProduct | undefined;
  beforeAll(async () => {
    const charges = new Map<string, number>();
    const agents = new AgentRegistry(
      own ??
        createExampleAgents({
          countCharge: (key) => {
            const count = (charges.get(key) ?? 0) + 1;
            charges.set(key, count);
            return Promise.resolve(count);
          },
          findCharge: (key) => Promise.resolve(charges.has(key)),
        }),
    );
    const stores = await openStores();
    const executor = createInProcessExecutor({ agents, stores, extensions: allExtensions() });
    atEndOfFile(() => executor.close());
    const { url, logged } = await startApi({
      executor,
      stateStore: stores.store,
      streamManager: stores.streamManager,
      agents,
      defaultAgent,
      webRoot: WEB_ROOT,
      limits: UNLIMITED,
      allowUnauthenticated: !hasAccounts,
      ...(hasAccounts && { authenticate: createJwtAuthenticator(TOKENS) }),
    });
    product = { url, logged, stores, chargesOf: (runs) => countsOf(charges, runs) };
  });
  return lateBound(() => product);
}
