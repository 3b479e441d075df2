import { resolve } from 'node:path';
import { createJiti } from 'jiti';
import type { TracingOptions } from './create-tracing.js';

/** The function that a file, TypeScript or JavaScript, exports as `redact`. @throws Error if the file exports no such function */
export async function loadRedact(file: string): Promise<NonNullable<TracingOptions['redact']>> {
  const jiti = createJiti(import.meta.url, { fsCache: false, interopDefault: false });
  const { redact } = await jiti.import<{ redact?: unknown }>(resolve(file));
  if (typeof redact !== 'function') throw new Error('it exports no function of the name redact');
  return redact as NonNullable<TracingOptions['redact']>;
}
