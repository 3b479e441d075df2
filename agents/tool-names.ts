import { createHash } from 'node:crypto';
import { FINISH_TOOL_NAME } from '../protocol/ids.js';

/** Longer names are cut and get a hash. */
const NAME_CHARS = 64;
const HASH_CHARS = 8;

/** Returns an MCP tool's name for models: letters, digits, `_` and `-`. Pure. */
export function toModelName(name: string, prefix = ''): string {
  const plain = plainOf(name, prefix);
  return plain.length > NAME_CHARS ? withHash(plain, name) : plain;
}

/**
 * Returns the model's names of a list's tools. A suffix distinguishes equal names. It does not
 * depend on the order of the list, so all processes give the same names. Pure.
 *
 * @param taken names of other tools
 */
export function toModelNames(
  names: ReadonlySet<string>,
  { taken, prefix = '' }: { taken: ReadonlySet<string>; prefix?: string },
): Map<string, string> {
  const wanting = new Map<string, number>();
  for (const name of names) {
    const plain = toModelName(name, prefix);
    wanting.set(plain, (wanting.get(plain) ?? 0) + 1);
  }
  const given = new Map<string, string>();
  const used = new Set<string>([...taken, FINISH_TOOL_NAME]);
  // Names that need no change come first.
  const inOrder = [...names].sort(
    (a, b) => Number(isPlain(b, prefix)) - Number(isPlain(a, prefix)),
  );
  for (const name of inOrder) {
    const plain = toModelName(name, prefix);
    const isShared = (wanting.get(plain) ?? 0) > 1 && !isPlain(name, prefix);
    let made = isShared ? withHash(plain, name) : plain;
    for (let n = 1; used.has(made); n += 1) made = withHash(plain, `${name} ${String(n)}`);
    used.add(made);
    given.set(name, made);
  }
  return given;
}

function plainOf(name: string, prefix: string): string {
  return `${prefix}${name.replace(/[^A-Za-z0-9_-]/g, '_')}` || '_';
}

function isPlain(name: string, prefix: string): boolean {
  return toModelName(name, prefix) === `${prefix}${name}`;
}

function withHash(plain: string, name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS);
  return `${plain.slice(0, NAME_CHARS - HASH_CHARS - 1)}_${hash}`;
}
