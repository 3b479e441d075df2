import type { WriterRequest } from '../../../../stores/transitions/lib/request.js';
import type { Call } from '../requests/request.js';

/** The parts of a request that invariants need. */
export interface Sent {
  transition: string;
  /** Name and token of the writer that sends it. */
  writer?: { name: string; token: number };
}

export function toSent({ args }: Call): Sent {
  const transition = args[0] ?? '';
  if (transition === 'append') {
    return { transition, writer: { name: args[2] ?? '', token: Number(args[3]) } };
  }
  const { writer } = JSON.parse(args[3] ?? '{}') as { writer?: WriterRequest };
  return { transition, ...(writer && { writer: { name: writer.name, token: writer.token } }) };
}
