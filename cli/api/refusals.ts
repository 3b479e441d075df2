import { CliFailure, EXIT, type ExitCode } from '../failure.js';
import { shownText } from '../output/shown-text.js';

interface Problem {
  error: string;
  code: string;
  detail?: unknown;
}

/** Describes an error response: the server's message, its code, and a remedy. */
export async function toRefusal(
  response: Response,
  { url, isSignedIn }: { url: string; isSignedIn: boolean },
): Promise<CliFailure> {
  const { status } = response;
  const target = response.headers.get('location');
  const problem = readProblem(await response.text().catch(() => ''));
  if (status >= 300 && status < 400) {
    const message = `${url} redirects to ${shownText(target ?? 'another page')}. Set HELIX_URL to the API itself.`;
    return new CliFailure(message, EXIT.unavailable);
  }
  if (problem === undefined) {
    const message = `${url} answered ${String(status)} without a reason: is it the address of a helix-temporal API?`;
    return new CliFailure(message, exitCodeOf(status));
  }
  const { error, code, detail } = problem;
  const { reason } = (detail ?? {}) as { reason?: unknown };
  const parts = [
    shownText(error),
    `(${shownText(code)})`,
    typeof reason === 'string' ? shownText(reason) : '',
    adviceFor(status, isSignedIn),
  ];
  return new CliFailure(parts.filter((part) => part !== '').join(' '), exitCodeOf(status), code);
}

export function toUnreachable(url: string, error: unknown): CliFailure {
  const code = codeOf(error);
  const reason = REASONS[code] ?? `cannot be reached (${code}).`;
  return new CliFailure(`${url} ${reason}`, EXIT.unavailable);
}

const ANOTHER = 'Another address: --url or HELIX_URL.';
const REASONS: Record<string, string> = {
  ECONNREFUSED: `refuses connections: is the server running there (npm start)? ${ANOTHER}`,
  ECONNRESET: 'closed the connection: it may be restarting; try again.',
  UND_ERR_SOCKET: 'closed the connection: it may be restarting; try again.',
  ENOTFOUND: `has a host name that is not known here. ${ANOTHER}`,
  EAI_AGAIN: 'has a host name that cannot be looked up right now.',
  UND_ERR_CONNECT_TIMEOUT: `does not answer. ${ANOTHER}`,
  TimeoutError: 'did not answer within 30 s.',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of its answer.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'has a certificate that is not trusted here: set NODE_EXTRA_CA_CERTS to its authority.',
  SELF_SIGNED_CERT_IN_CHAIN:
    'has a certificate that is not trusted here: set NODE_EXTRA_CA_CERTS to its authority.',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'has a certificate that is not trusted here: set NODE_EXTRA_CA_CERTS to it.',
  CERT_HAS_EXPIRED: 'has a certificate that has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another host name.',
};

/** The rejection of `fetch`; its cause has the reason. */
interface FetchError {
  name?: string;
  message?: string;
  code?: unknown;
  cause?: FetchError;
  /** One error per address, if the host has several. */
  errors?: FetchError[];
}

function codeOf(error: unknown): string {
  const { name, message, cause } = (error ?? {}) as FetchError;
  if (name === 'TimeoutError') return name;
  const { code, message: reason } = cause?.errors?.[0] ?? cause ?? {};
  return typeof code === 'string' ? code : (reason ?? message ?? 'unknown');
}

function adviceFor(status: number, isSignedIn: boolean): string {
  if (status === 401 && isSignedIn) return 'HELIX_TOKEN is not accepted: it may have expired.';
  if (status === 401) return 'Set HELIX_TOKEN to a token of your identity provider.';
  if (status === 403) return 'Your roles do not allow it.';
  return '';
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.notAllowed;
  return status >= 500 || status < 400 ? EXIT.unavailable : EXIT.failed;
}

function readProblem(text: string): Problem | undefined {
  try {
    const { error, code, detail } = JSON.parse(text) as Partial<Problem>;
    const isProblem = typeof error === 'string' && typeof code === 'string';
    return isProblem ? { error, code, detail } : undefined;
  } catch {
    return undefined;
  }
}
