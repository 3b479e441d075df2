import type { Connection } from '@temporalio/client';
import { inspectTemporal, type InspectTemporalOptions } from './inspect-temporal.js';
import {
  toConnectionFault,
  toKeysFault,
  toNamespaceFault,
  type TemporalFault,
} from './temporal-faults.js';

export interface TemporalSettings extends InspectTemporalOptions {
  address: string;
  /** Ids of the keys with which this process reads payloads. */
  keyIds: readonly string[];
}

/** What a process says at its start about the Temporal that its settings name. */
export interface TemporalExplained {
  /** It cannot work without this. */
  fault: string | undefined;
  /** Some runs cannot continue. */
  warning: string | undefined;
}

/** Looks at the server with the settings of this process. It throws nothing. */
export async function explainTemporal({
  address,
  keyIds,
  ...options
}: TemporalSettings): Promise<TemporalExplained> {
  // A certificate may be unreadable: the error of the connection itself says so.
  const found = await inspectTemporal(options).catch(() => undefined);
  if (found === undefined) return { fault: undefined, warning: undefined };
  if ('refusal' in found) {
    return { fault: toText(toConnectionFault(address, found.refusal)), warning: undefined };
  }
  const { namespace, payloadKeys } = found.value;
  return {
    fault:
      'refusal' in namespace
        ? toText(toNamespaceFault(options.namespace, namespace.refusal))
        : undefined,
    warning: 'value' in payloadKeys ? toText(toKeysFault(keyIds, payloadKeys.value)) : undefined,
  };
}

/** A connection whose namespace can be used. @throws what the server replies; it is closed then */
export async function inNamespace<C extends Pick<Connection, 'workflowService' | 'close'>>(
  connection: C,
  namespace: string,
): Promise<C> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function toText(fault: TemporalFault | undefined): string | undefined {
  return fault && `${fault.finding} ${fault.fix}`;
}
