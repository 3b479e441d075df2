/** Severity; `fail` means that the product does not work or may lose data. */
export type Level = 'ok' | 'note' | 'warn' | 'fail';

export interface Verdict {
  /** Name of the check, such as `redis persistence`. */
  check: string;
  level: Level;
  finding: string;
  fix?: string;
}

export function verdictsOn(
  check: string,
): Record<Level, (finding: string, fix?: string) => Verdict> {
  const at =
    (level: Level) =>
    (finding: string, fix?: string): Verdict => ({ check, level, finding, fix });
  return { ok: at('ok'), note: at('note'), warn: at('warn'), fail: at('fail') };
}
