import { LIBRARY_CODE, LIBRARY_HASH } from './generated/library.js';

/** How a transition may run: `free` also while Redis is full, `reading` writes nothing. */
export type TransitionMode = 'writing' | 'free' | 'reading';
/** `rights` tells which commands the caller may not use. */
export type LibraryEntry = TransitionMode | 'rights';

/** The transitions of one release; another release beside it has another hash. */
export interface Library {
  hash: string;
  /** Lua that defines `build`, which makes the function that runs transitions. */
  code: string;
}

export const THIS_LIBRARY: Library = { hash: LIBRARY_HASH, code: LIBRARY_CODE };
const NAME_PREFIX = 'hx_';
/** Matches the names of all releases' libraries. */
export const ANY_LIBRARY = `${NAME_PREFIX}*`;

const FORMS: Record<LibraryEntry, { suffix: string; flag?: string; body: string }> = {
  writing: { suffix: '', body: 'run' },
  free: { suffix: '_free', flag: 'allow-oom', body: 'run' },
  reading: { suffix: '_ro', flag: 'no-writes', body: 'run' },
  rights: { suffix: '_rights', flag: 'no-writes', body: 'lacking' },
};

export function libraryName({ hash }: Pick<Library, 'hash'>): string {
  return NAME_PREFIX + hash;
}

export function functionName(library: Library, entry: LibraryEntry): string {
  return libraryName(library) + FORMS[entry].suffix;
}

/** The library as FUNCTION LOAD takes it. What it is made of is built at its first call, and kept. */
export function functionLibrary(library: Library): string {
  const functions = (Object.keys(FORMS) as LibraryEntry[]).map((entry) => {
    const { flag, body } = FORMS[entry];
    const flags = flag === undefined ? '' : `, flags={'${flag}'}`;
    return `redis.register_function{function_name='${functionName(library, entry)}', callback=${body}${flags}}`;
  });
  return [
    `#!lua name=${libraryName(library)}`,
    library.code,
    'local built',
    'local function run(keys, args)',
    '  if not built then built = build() end',
    '  return built(keys, args)',
    'end',
    LACKING,
    ...functions,
  ].join('\n');
}

/** The same as a script, for a Redis whose functions are not to be had. */
export function scriptForm({ code }: Library, entry: LibraryEntry): string {
  const { flag } = FORMS[entry];
  const head = flag === undefined ? '' : `#!lua flags=${flag}\n`;
  if (entry === 'rights') return `${head}${LACKING}\nreturn lacking(KEYS, ARGV)`;
  return `${head}${code}\nreturn build()(KEYS, ARGV)`;
}

/** args: commands as JSON, each with arguments; those that the caller may not send, by their numbers. */
const LACKING = `local function lacking(keys, args)
  local found = {}
  for n, command in ipairs(args) do
    local known, allowed = pcall(redis.acl_check_cmd, unpack(cjson.decode(command)))
    if not known or not allowed then found[#found + 1] = n end
  end
  return found
end`;
