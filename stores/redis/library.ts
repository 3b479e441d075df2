import { LIBRARY_CODE, LIBRARY_HASH } from './generated/library.js';

/** How a transition may run: `free` also while Redis is full, `reading` writes nothing. */
export type TransitionMode = 'writing' | 'free' | 'reading';

const FLAGS: Record<TransitionMode, string> = {
  writing: '',
  free: 'allow-oom',
  reading: 'no-writes',
};

/** Name of this release's library; another release beside it has another one. */
export const LIBRARY_NAME = `hx_${LIBRARY_HASH}`;
/** How names of libraries begin. */
export const LIBRARY_PREFIX = 'hx_';

export const FUNCTION_NAMES: Record<TransitionMode, string> = {
  writing: LIBRARY_NAME,
  free: `${LIBRARY_NAME}_free`,
  reading: `${LIBRARY_NAME}_ro`,
};

/** The library as FUNCTION LOAD takes it. What it is made of is built at its first call, and kept. */
export function functionLibrary(): string {
  const functions = (Object.keys(FLAGS) as TransitionMode[]).map((mode) => {
    const flags = FLAGS[mode] === '' ? '' : `, flags={'${FLAGS[mode]}'}`;
    return `redis.register_function{function_name='${FUNCTION_NAMES[mode]}', callback=hx${flags}}`;
  });
  return [
    `#!lua name=${LIBRARY_NAME}`,
    LIBRARY_CODE,
    'local run',
    'local function hx(keys, args)',
    '  if not run then run = build() end',
    '  return run(keys, args)',
    'end',
    ...functions,
  ].join('\n');
}

/** The same as a script, for a Redis whose functions are not to be had. */
export function scriptForm(mode: TransitionMode): string {
  const head = FLAGS[mode] === '' ? '' : `#!lua flags=${FLAGS[mode]}\n`;
  return `${head}${LIBRARY_CODE}\nreturn build()(KEYS, ARGV)`;
}
