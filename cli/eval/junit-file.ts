import { realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { toJUnit, type CaseReport, type EvalCase } from '../../testing/eval/index.js';
import { wrongUsage } from '../failure.js';

/** Writes what is known after each case; the cases without a report have not run. */
export type WriteJUnit = (reports: readonly CaseReport[]) => Promise<void>;

/**
 * An evaluation that is ended before its last case leaves what it has found. A pipe gets the last
 * version only.
 *
 * @throws CliFailure for a file that cannot be written, before any model is called
 */
export async function openJUnitFile(file: string, cases: readonly EvalCase[]): Promise<WriteJUnit> {
  const about = await stat(file).catch(() => undefined);
  if (about?.isDirectory() === true) throw wrongUsage(`${file} cannot be written: it is a folder.`);
  const isFile = about === undefined || about.isFile();
  // A link stays a link.
  const target = await realpath(file).catch(() => file);
  const write: WriteJUnit = async (reports) => {
    const isLast = reports.length === cases.length;
    const text = toJUnit(reports, cases.slice(reports.length));
    if (isFile) await replaceFile(target, text);
    else if (isLast) await writeFile(file, text);
  };
  await write([]).catch((error: unknown) => {
    throw wrongUsage(`${file} cannot be written: ${error instanceof Error ? error.message : ''}.`);
  });
  return write;
}

/** As a whole, so that no reader finds half of one; in place where the folder may not be written, or the file is a mount. */
async function replaceFile(file: string, text: string): Promise<void> {
  const part = `${file}.part`;
  try {
    await writeFile(part, text);
    await rename(part, file);
  } catch {
    await rm(part, { force: true }).catch(() => undefined);
    await writeFile(file, text);
  }
}
