import { writeFile } from 'node:fs/promises';
import { toCase } from '../../testing/eval/index.js';
import type { Session } from '../commands/session.js';
import { wrongUsage } from '../failure.js';

export interface RecordOptions {
  name: string;
  session: Session;
  file: string | undefined;
  now: number;
}

/** Records a conversation as a case and returns its text. @throws CliFailure for an empty one */
export async function record({ name, session, file, now }: RecordOptions): Promise<string> {
  const { agent, run, messages } = session;
  let text: string;
  try {
    const frozen = toCase({ name, agent, status: run.status, now: new Date(now), messages });
    text = `${JSON.stringify(frozen, null, 2)}\n`;
  } catch (error) {
    throw wrongUsage(`${name}: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (file !== undefined) await writeFile(file, text);
  return text;
}
