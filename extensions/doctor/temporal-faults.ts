import type { Refusal, TemporalFacts } from './inspect-temporal.js';

/** A reason why API or workers cannot use Temporal, and its cure, which names the setting. */
export interface TemporalFault {
  finding: string;
  fix: string;
}

/** gRPC statuses. */
export const GRPC = { notFound: 5, denied: 7, unauthenticated: 16 } as const;

/** Explains a failed connection. Pure. */
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

/** Names the keys of running runs that this process lacks; undefined if it has all. Pure. */
export function toKeysFault(
  keyIds: readonly string[],
  used: readonly (string | null)[],
): TemporalFault | undefined {
  const gone = used.filter((id) => id !== null && !keyIds.includes(id));
  if (gone.length === 0) return undefined;
  return {
    finding: `Running runs are encrypted with "${gone.join('", "')}", which is not among the keys: they cannot continue.`,
    fix: 'Put that key back into TEMPORAL_CODEC_KEYS, behind the first, until those runs have left the retention.',
  };
}
