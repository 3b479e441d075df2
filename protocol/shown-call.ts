import { formatApprovalId } from './ids.js';

/** Identity of the call that the author of an answer saw, as lists of pending calls give it. */
export interface ShownCall {
  approvalId?: string | undefined;
  inputHash?: string | undefined;
}

interface WaitingCall {
  runId: string;
  toolCallId: string;
  input: unknown;
  approvers?: object | undefined;
  edited?: object | undefined;
}

/**
 * Returns true if an answer is about the call as it waits now. A call id may recur in another run,
 * or in a conversation that was erased and begun anew. An answer to a call with approvers must name
 * the call as it was shown, the input included.
 *
 * @param isPosted the answer is in a posted message of a chat, whose approval id came with the input that the
 * model asked for
 */
export function isAsShown(
  { approvalId, inputHash }: ShownCall,
  { runId, toolCallId, input, approvers, edited }: WaitingCall,
  isPosted = false,
): boolean {
  if (approvalId !== undefined && approvalId !== formatApprovalId(runId, toolCallId)) return false;
  if (inputHash !== undefined) {
    return (
      inputHash === hashInput(input) &&
      (approvalId !== undefined || approvers === undefined || isPosted)
    );
  }
  if (approvers === undefined) return true;
  return isPosted && approvalId !== undefined && edited === undefined;
}

/**
 * Hashes an input's JSON with sorted keys by SHA-256 as base64url. The hash is the same in every
 * process, in browsers of any origin, and for a copy from a database that keeps no order of keys.
 */
export function hashInput(input: unknown): string {
  return toBase64Url(sha256(new TextEncoder().encode(JSON.stringify(input ?? null, inOrder))));
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value);
  return Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Fractional parts of the roots of the first primes, as FIPS 180-4 derives its constants. */
const PRIMES = firstPrimes(64);
const ROUND = Uint32Array.from(PRIMES, (prime) => toFraction(Math.cbrt(prime)));
const START = Uint32Array.from(PRIMES.slice(0, 8), (prime) => toFraction(Math.sqrt(prime)));

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  return primes;
}

function toFraction(root: number): number {
  return (root % 1) * 2 ** 32;
}

/** `crypto.subtle` is asynchronous, and missing on pages that were loaded without TLS. */
function sha256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const hash = START.slice();
  const word = new Uint32Array(64);
  const at = (words: Uint32Array, index: number): number => words[index] ?? 0;
  for (let block = 0; block < padded.length; block += 64) {
    for (let i = 0; i < 16; i += 1) word[i] = view.getUint32(block + i * 4);
    for (let i = 16; i < 64; i += 1) {
      const [x, y] = [at(word, i - 15), at(word, i - 2)];
      const early = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
      const late = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
      word[i] = at(word, i - 16) + early + at(word, i - 7) + late;
    }
    let [a, b, c, d, e, f, g, h] = hash as unknown as Eight;
    for (let i = 0; i < 64; i += 1) {
      const choice = (e & f) ^ (~e & g);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const first =
        h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + at(ROUND, i) + at(word, i);
      const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    for (const [i, part] of [a, b, c, d, e, f, g, h].entries()) hash[i] = at(hash, i) + part;
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (const [i, part] of hash.entries()) digest.setUint32(i * 4, part);
  return new Uint8Array(digest.buffer);
}

type Eight = [number, number, number, number, number, number, number, number];

function turn(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Formats the name of a tool or a field for people: `lookupOrder` → `Lookup order`. */
export function toWords(name: string): string {
  const words = name
    .replace(/[_-]+/g, ' ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .trim()
    .toLowerCase()
    .replace(/\bid\b/g, 'ID');
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
