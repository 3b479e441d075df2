import type { Connection } from '@temporalio/client';
import { codeOf } from '../../runs/temporal-calls.js';
import {
  inspectTemporal,
  type InspectTemporalOptions,
  type Refusal,
  type TemporalFacts,
} from './inspect-temporal.js';

export { inspectTemporal, type Finding, type TemporalFacts } from './inspect-temporal.js';

export interface TemporalSettings extends InspectTemporalOptions {
  address: string;
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

/** Returns the connection if its namespace can be described; otherwise closes it. @throws the server's error */
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

/** A reason why API or workers cannot use Temporal, and its cure, which names the setting. */
interface TemporalFault {
  finding: string;
  fix: string;
}

const GRPC = { notFound: 5, denied: 7, unauthenticated: 16 } as const;

export function toConnectionFault(address: string, { status, message }: Refusal): TemporalFault {
  if (status === GRPC.unauthenticated || status === GRPC.denied) {
    return {
      finding: `Temporal at ${address} refuses the credentials: ${message}.`,
      fix: 'Renew TEMPORAL_API_KEY, or the client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH, …_KEY_PATH).',
    };
  }
  if (/alert|certificate required|handshake/i.test(message)) {
    return {
      finding: `Temporal at ${address} refuses the TLS connection: ${message}.`,
      fix: 'TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH must name a certificate that it accepts.',
    };
  }
  if (/certificate (?:has expired|is not yet valid)/i.test(message)) {
    return {
      finding: `The certificate of Temporal at ${address} is not valid today: ${message}.`,
      fix: 'Renew it on that server; or correct the clock of this machine.',
    };
  }
  if (/PEM routines|no start line|values mismatch|bad decrypt|asn1/i.test(message)) {
    return {
      finding: `The certificate or key for Temporal at ${address} cannot be used: ${message}.`,
      fix: 'TEMPORAL_TLS_CLIENT_CERT_PATH and …_KEY_PATH (or …_DATA) must hold a certificate and its own key, and TEMPORAL_TLS_SERVER_CA_CERT_PATH a certificate, in PEM.',
    };
  }
  if (/wrong version number|packet length too long/i.test(message)) {
    return {
      finding: `Temporal at ${address} does not speak TLS: ${message}.`,
      fix: 'Set TEMPORAL_TLS=false, since an API key and certificates turn TLS on; or correct TEMPORAL_ADDRESS.',
    };
  }
  if (/certificate|altname|TLS|SSL/i.test(message)) {
    return {
      finding: `The certificate of Temporal at ${address} is not trusted: ${message}.`,
      fix: 'Let TEMPORAL_TLS_SERVER_CA_CERT_PATH name its authority, and TEMPORAL_TLS_SERVER_NAME the host that it is for.',
    };
  }
  return {
    finding: `Temporal at ${address} cannot be reached: ${message}.`,
    fix: 'Start it, or correct TEMPORAL_ADDRESS; TEMPORAL_TLS=true where it wants TLS.',
  };
}

/** Explains an unusable namespace; undefined if that is not certain. Pure. */
export function toNamespaceFault(
  namespace: string,
  { status, message }: Refusal,
): TemporalFault | undefined {
  if (status === GRPC.notFound) {
    return {
      finding: `There is no namespace "${namespace}".`,
      fix: `Correct TEMPORAL_NAMESPACE, or create it: temporal operator namespace create -n ${namespace}`,
    };
  }
  if (status !== GRPC.denied && status !== GRPC.unauthenticated) return undefined;
  return {
    finding: `These credentials may not use the namespace "${namespace}": ${message}.`,
    fix: 'Renew TEMPORAL_API_KEY or the client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH), or correct TEMPORAL_NAMESPACE.',
  };
}

/** Explains the limits of credentials that may use the namespace but not describe it. Pure. */
export function toUndescribedFault(
  name: string,
  { namespace, payloadKeys, pollers }: TemporalFacts,
): TemporalFault | undefined {
  if (!('refusal' in namespace) || namespace.refusal.status !== GRPC.denied) return undefined;
  // Neither runs nor the task queue could be read, so the namespace is not usable either.
  if ('refusal' in payloadKeys && 'refusal' in pollers) return undefined;
  return {
    finding: `These credentials may use the namespace "${name}", but not describe it: ${namespace.refusal.message}. The API works without, workers do not start.`,
    fix: 'Give the credentials of workers the right to DescribeNamespace (on Temporal Cloud: to read the namespace).',
  };
}

/** Names the keys of running runs and schedules that this process lacks; undefined if it has all. Pure. */
export function toKeysFault(
  keyIds: readonly string[],
  used: readonly (string | null)[],
): TemporalFault | undefined {
  const gone = used.filter((id) => id !== null && !keyIds.includes(id));
  if (gone.length === 0) return undefined;
  return {
    finding: `Running runs or schedules are encrypted with "${gone.join('", "')}", which is not among the keys: they cannot continue.`,
    fix: 'Add that key to TEMPORAL_CODEC_KEYS, behind the first, until those runs have left the retention and the schedules are created again.',
  };
}
