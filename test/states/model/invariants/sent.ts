import type { Call } from '../requests/request.js';

/** The parts of a request that invariants need. */
export interface Sent {
  transition: string;
  /** Name and token of the writer that sends it. */
  writer?: Identity;
}

interface Identity {
  name: string;
  token: number;
}

export function toSent({ args }: Call): Sent {
  const transition = args[0] ?? '';
  if (transition === 'append') {
    return { transition, writer: { name: args[2] ?? '', token: Number(args[3]) } };
  }
  const request = JSON.parse(args[3] ?? '{}') as Partial<Identity> & { writer?: Identity };
  const { name, token } = request.writer ?? request;
  const isWriters = name !== undefined && token !== undefined;
  return { transition, ...(isWriters && { writer: { name, token } }) };
}
