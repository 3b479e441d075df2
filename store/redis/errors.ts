import { HelixError } from '../../protocol/errors.js';
import { corrupt } from '../record/corrupt.js';

/** Replies with which Redis temporarily refuses a command. */
const NOT_NOW =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOREPLICAS|MISCONF|OOM|BUSY) /;
/** Missing permission for a command, for a key or channel, or for a command inside a script. */
const NO_RIGHT = /^NOPERM |^(?:ERR )?The user executing the script can't /;
const NO_ENTRY = /^(NOAUTH|WRONGPASS) /;
const NO_COMMAND = /^ERR unknown (?:command|subcommand) ['`]?([^'`, ]*)/i;

/** Before Redis 7, a refusal within a script comes behind its place. */
const PLACE = /^.*@user_script: ?\d+: -?/;

function messageOf({ message }: Error): string {
  return message.replace(PLACE, '');
}

/** What ioredis says of a command while it has no connection, instead of why. */
const UNSENT = "Stream isn't writeable";
let connectionFault: string | undefined;

/** Notes why the newest connection of this process failed; undefined once one is ready. */
export function noteConnection(error?: Error): void {
  connectionFault = error?.message;
}

/** Waits for Redis and translates its errors into those of the contract. */
export async function callRedis<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toContractError(error);
  }
}

/**
 * Translates an error of Redis. An unreachable Redis, or one that refuses this server, becomes `unavailable`, which
 * clients may retry; a key of another type is foreign data. Any other error of a script is a bug of ours and stays as
 * it is. ioredis attaches the whole command including user content to an error, so only the message is kept.
 */
export function toContractError(error: unknown): Error {
  if (HelixError.isInstance(error)) return error;
  if (!isReplyError(error)) {
    const cause = error instanceof Error ? new Error(reasonOf(error)) : error;
    return unavailable('cannot be reached right now', cause);
  }
  const message = messageOf(error);
  if (message.startsWith('WRONGTYPE')) return corrupt('type of a key', new Error(message));
  const fault = isTemporary(error) ? 'cannot be reached right now' : faultOfSetUp(message);
  if (fault !== undefined) return unavailable(fault, new Error(message));
  return new Error(`Redis refused a command: ${message}`);
}

function reasonOf({ message }: Error): string {
  return message.startsWith(UNSENT) ? (connectionFault ?? message) : message;
}

/** Returns true if the same command may be sent again later. */
export function isTemporary(error: unknown): boolean {
  return isReplyError(error) && NOT_NOW.test(messageOf(error));
}

export function isOutOfMemory(error: unknown): boolean {
  return refusalOf(error).startsWith('OOM ');
}

/** Returns true if a transaction was not executed because one of its commands was refused. */
export function isDiscarded(error: unknown): boolean {
  return isReplyError(error) && error.message.startsWith('EXECABORT');
}

export function isLackOfRights(error: unknown): boolean {
  return NO_RIGHT.test(refusalOf(error));
}

/** @param commands names of the commands that the user lacks */
export function missingRights(commands: string): HelixError {
  return unavailable(`refuses this server: its Redis user may not use ${commands}`);
}

/** Describes a fault of the set-up, which an operator must fix; no data is lost meanwhile. */
function faultOfSetUp(message: string): string | undefined {
  const [, unknown] = NO_COMMAND.exec(message) ?? [];
  if (unknown !== undefined) return `is a Redis without ${unknown.toUpperCase()}`;
  if (NO_ENTRY.test(message)) return 'does not accept the credentials of this server';
  if (!NO_RIGHT.test(message)) return undefined;
  const [, command] = /'([^']*)' command/.exec(message) ?? [];
  const what = command?.toUpperCase() ?? missingRight(message);
  return `refuses this server: its Redis user may not use ${what}`;
}

function missingRight(message: string): string {
  if (message.includes('channel')) return 'these channels';
  return message.includes('keys') ? 'these keys' : 'one of the commands that are needed';
}

function unavailable(what: string, cause?: unknown): HelixError {
  const options = cause === undefined ? {} : { cause };
  return new HelixError('unavailable', `The conversation store ${what}.`, options);
}

/** Returns the message with which Redis refused a command, even after its translation. */
function refusalOf(error: unknown): string {
  const said = HelixError.isInstance(error) ? error.cause : isReplyError(error) && error;
  return said instanceof Error ? messageOf(said) : '';
}

function isReplyError(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'ReplyError' || 'command' in error);
}
