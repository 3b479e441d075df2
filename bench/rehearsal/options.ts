import { parseArgs } from 'node:util';
import { readPlanted, type Kind } from '../soak/verdict.js';

export interface Options {
  minutes: number;
  /** How many conversations there are at the same time. */
  sessions: number;
  planted: readonly Kind[];
  /** No faults are caused, for a run to compare with. */
  calm: boolean;
  /** Folder of another build (its `dist`) that the first worker runs until the deploy. */
  beside?: string | undefined;
}

/** @throws Error in one line */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '20' },
      sessions: { type: 'string', default: '200' },
      plant: { type: 'string', default: '' },
      calm: { type: 'boolean', default: false },
      beside: { type: 'string' },
    },
  });
  const [minutes, sessions] = [Number(values.minutes), Number(values.sessions)];
  if (!(minutes > 0)) throw new Error(`--minutes has to be a number above 0: ${values.minutes}`);
  if (!(sessions >= 1)) throw new Error(`--sessions has to be 1 or more: ${values.sessions}`);
  const { calm, beside } = values;
  return { minutes, sessions, planted: readPlanted(values.plant), calm, beside };
}
