/** The scripts give back what was stored, and only checked values were stored. */
export function parse(value: string | number | undefined): unknown {
  return JSON.parse(String(value));
}

/** A reply that its script does not give. */
export function unexpected(script: string, kind: unknown): Error {
  return new Error(`script ${script} replied ${String(kind)}`);
}
