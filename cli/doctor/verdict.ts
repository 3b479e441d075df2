/** How bad a finding is: `fail` means that the product does not work, or may lose data. */
export type Level = 'ok' | 'note' | 'warn' | 'fail';

/** What `doctor` says about one thing. */
export interface Verdict {
  /** What was looked at: `redis persistence`. */
  check: string;
  level: Level;
  /** The finding, as a sentence. */
  finding: string;
  /** What to do; names the setting. */
  fix?: string;
}

/** Says what one look at a part is about. */
export function verdictsOn(
  check: string,
): Record<Level, (finding: string, fix?: string) => Verdict> {
  const at =
    (level: Level) =>
    (finding: string, fix?: string): Verdict => ({ check, level, finding, fix });
  return { ok: at('ok'), note: at('note'), warn: at('warn'), fail: at('fail') };
}
