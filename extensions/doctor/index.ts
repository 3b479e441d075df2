import type { Connection } from '@temporalio/client';
import { codeOf } from '../../runs/temporal-calls.js';
import { inspectTemporal, type InspectTemporalOptions } from './inspect-temporal.js';
import {
  toConnectionFault,
  toKeysFault,
  toNamespaceFault,
  GRPC,
  toUndescribedFault,
  type TemporalFault,
} from './temporal-faults.js';

export { inspectTemporal, type Finding, type TemporalFacts } from './inspect-temporal.js';
export {
  toConnectionFault,
  toKeysFault,
  toNamespaceFault,
  toUndescribedFault,
} from './temporal-faults.js';

export interface TemporalSettings extends InspectTemporalOptions {
  address: string;
  /** Ids of the keys that this process has for payloads. */
  keyIds: readonly string[];
  /** A worker of the SDK describes its namespace itself, and does not start if it may not. */
  isWorker?: boolean;
}

/** Findings about Temporal that a process reports at its start. */
export interface TemporalExplained {
  /** The process cannot work until this is fixed. */
  fault: string | undefined;
  /** Some runs cannot continue, or workers cannot start. */
  warning: string | undefined;
}

/** Inspects the server with the settings of this process; never throws. */
export async function explainTemporal({
  address,
  keyIds,
  isWorker = false,
  ...options
}: TemporalSettings): Promise<TemporalExplained> {
  // If inspecting throws, connecting reports the error.
  const found = await inspectTemporal(options).catch(() => undefined);
  if (found === undefined) return { fault: undefined, warning: undefined };
  if ('refusal' in found) {
    return { fault: toText(toConnectionFault(address, found.refusal)), warning: undefined };
  }
  const { namespace, payloadKeys } = found.value;
  const undescribed = isWorker ? undefined : toUndescribedFault(options.namespace, found.value);
  const keys = 'value' in payloadKeys ? toKeysFault(keyIds, payloadKeys.value) : undefined;
  const warnings = [undescribed, keys].flatMap((each) => toText(each) ?? []);
  return {
    fault:
      'refusal' in namespace && undescribed === undefined
        ? toText(toNamespaceFault(options.namespace, namespace.refusal))
        : undefined,
    warning: warnings.length > 0 ? warnings.join(' ') : undefined,
  };
}

type NamespaceConnection = Pick<Connection, 'workflowService' | 'close'>;

/**
 * Returns the connection if its namespace can be described; otherwise closes it.
 *
 * @throws the server's error
 */
export async function inNamespace<C extends NamespaceConnection>(
  connection: C,
  namespace: string,
): Promise<C> {
  return keepIf(connection, () => connection.workflowService.describeNamespace({ namespace }));
}

/**
 * Like `inNamespace`, but accepts credentials that may use the namespace without describing it,
 * such as some keys of Temporal Cloud.
 */
export async function inUsableNamespace<C extends NamespaceConnection>(
  connection: C,
  namespace: string,
): Promise<C> {
  const { workflowService } = connection;
  return keepIf(connection, () =>
    workflowService.describeNamespace({ namespace }).catch(async (error: unknown) => {
      if (codeOf(error) !== GRPC.denied) throw error;
      await workflowService.listWorkflowExecutions({ namespace, pageSize: 1 }).catch(() => {
        throw error;
      });
    }),
  );
}

async function keepIf<C extends NamespaceConnection>(
  connection: C,
  ask: () => Promise<unknown>,
): Promise<C> {
  try {
    await ask();
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function toText(fault: TemporalFault | undefined): string | undefined {
  return fault && `${fault.finding} ${fault.fix}`;
}
