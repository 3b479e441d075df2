import type { Client } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import type { AgentRegistry } from '../agents/index.js';
import type { Notifier } from '../executor/deliveries.js';
import type { RunMeter } from '../protocol/run-meter.js';
import type { Store } from '../stores/contract/store.js';

/** What a worker gives to what notifies. */
export interface NotifierHost {
  client: Client;
  taskQueue: string;
  store: Store;
  agents: AgentRegistry;
  meter: RunMeter;
}

/** The part of a notifier that workers carry out, beside the one for workflows and models. */
export interface WorkerNotifier extends Notifier {
  readonly worker: (host: NotifierHost) => {
    /** The activities, task queue and slots of a worker of their own. */
    options: Pick<WorkerOptions, 'activities' | 'taskQueue'> & Partial<WorkerOptions>;
    close: () => void;
  };
}
